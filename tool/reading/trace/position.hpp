// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is so behind all events until a moment: from there a trace can be played on, and what comes before need
//    not be read.
// Invariant: live() is what it was made of. A block takes few bytes: by birth, most numbers are near those of the block
//    before.
// Must not know: which moments are worth it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reading/trace/columns.hpp"
#include "reading/trace/live_set.hpp"

namespace gr::trace {

class Position {
  public:
    Position(Time time, const LiveSet &live, std::uint64_t births, std::uint64_t bytes_born);

    [[nodiscard]] Time time() const { return time_; }
    // Born so far, and with how many bytes.
    [[nodiscard]] std::uint64_t births() const { return births_; }
    [[nodiscard]] std::uint64_t bytes_born() const { return bytes_born_; }
    [[nodiscard]] LiveSet live() const;
    // That it takes in memory.
    [[nodiscard]] std::size_t bytes() const { return packed_.size(); }

  private:
    Time time_;
    std::uint64_t births_;
    std::uint64_t bytes_born_;
    std::size_t count_;
    Bytes packed_;
};

}  // namespace gr::trace

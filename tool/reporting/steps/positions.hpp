// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: moments of a trace from which it can be played on, so that a window of it need not be played from the begin.
// Invariant: so many bytes of them at most, and half of that for one more. When there would be more, every second goes,
//    and of the moments to come every second is left out, so that they stay evenly spread.
// Must not know: which windows there will be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reading/trace/position.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

class Positions {
  public:
    static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;

    explicit Positions(std::uint64_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

    // When positions are worth being kept: about as many events lie between one and the next.
    [[nodiscard]] static std::vector<trace::Time> moments(const trace::Trace &trace);

    // Of these moments, counted from 1.
    [[nodiscard]] bool wants(std::size_t moment) const { return moment % apart_ == 0; }
    // By time, each that is wanted; so many moments come behind it. As if their positions took as much: so none is made in vain.
    void keep(trace::Position position, std::size_t moments_left);
    // One besides, in place of the one before it: whoever looks closer begins near it. Not if it takes more than half of all.
    void visit(trace::Position position);
    // The last before that time; nullptr: none.
    [[nodiscard]] const trace::Position *before(trace::Time time) const;

  private:
    std::uint64_t most_bytes_;
    std::vector<trace::Position> kept_;
    std::size_t apart_ = 1;  // moments, from one that is kept to the next
    std::optional<trace::Position> visited_;
    std::uint64_t bytes_ = 0;
};

}  // namespace gr::tool

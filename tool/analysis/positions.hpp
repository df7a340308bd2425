// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: moments of a trace from which it can be played on, so that a window of it need not be played from the begin.
// Invariant: kMostBytes of them at most, and half of that for one more; when there would be more, every second goes.
// Must not know: which windows there will be.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/playback.hpp"
#include "trace/reader.hpp"

namespace gr::analysis {

class Positions {
  public:
    static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;

    // When positions are worth being kept: about as many events lie between one and the next.
    [[nodiscard]] static std::vector<trace::Time> moments(const trace::Trace &trace);

    // By time.
    void keep(trace::Position position);
    // One besides, in place of the one before it: whoever looks closer begins near it. Not if it takes more than half of all.
    void visit(trace::Position position);
    // The last before that time; nullptr: none.
    [[nodiscard]] const trace::Position *before(trace::Time time) const;

  private:
    std::vector<trace::Position> kept_;
    std::optional<trace::Position> visited_;
    std::uint64_t bytes_ = 0;
};

}  // namespace gr::analysis

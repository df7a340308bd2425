// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the clock of a recording: which one, how fast it runs, and what reading it costs.
// Invariant: its rate is found once, against CLOCK_MONOTONIC, and holds for the whole recording.
// Must not know: what is timed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reading/trace/event.hpp"

namespace gr::tool {

class RecordingClock {
  public:
    // The rate is found over a while that begins here.
    RecordingClock();

    // GR_CLOCK_COUNTER or GR_CLOCK_MONOTONIC.
    [[nodiscard]] std::uint32_t kind() const { return kind_; }
    [[nodiscard]] std::uint64_t now() const;
    // What another process told, if it is a moment of this recording; else the nearest that is.
    [[nodiscard]] std::uint64_t within_recording(std::uint64_t ticks) const {
        return std::clamp(ticks, begin_.ticks, std::max(begin_.ticks, now()));
    }
    // Waits until that while is over; before all that follows.
    void find_rate();
    [[nodiscard]] double nanoseconds(std::uint64_t ticks) const {
        return static_cast<double>(ticks) * nanoseconds_per_tick_;
    }
    // Of a moment, from another that is Time 0; what was before counts as that.
    [[nodiscard]] trace::Time time(std::uint64_t ticks, std::uint64_t origin) const {
        if (ticks <= origin) return {};
        return {static_cast<std::uint64_t>(static_cast<double>(ticks - origin) * units_per_tick_)};
    }
    // CLOCK_REALTIME at a moment.
    [[nodiscard]] std::int64_t real_time(std::uint64_t ticks) const;
    // What one reading costs, in the mean.
    [[nodiscard]] double cost_nanoseconds() const { return cost_nanoseconds_; }

  private:
    struct Pair {
        std::uint64_t ticks = 0;
        std::uint64_t nanoseconds = 0;
    };
    [[nodiscard]] Pair both() const;
    [[nodiscard]] double cost_ticks() const;

    std::uint32_t kind_;
    Pair begin_;
    std::uint64_t begin_real_;
    double nanoseconds_per_tick_ = 1;
    double units_per_tick_ = 0;
    double cost_nanoseconds_ = 0;
};

}  // namespace gr::tool

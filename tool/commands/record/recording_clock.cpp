// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: recording_clock.hpp.
// Invariant: as there. Of several readings of both clocks that counts which took least time.
// Must not know: what is timed.
#include "commands/record/recording_clock.hpp"

#include <granary/wire/recording.h>
#include <time.h>

#include <algorithm>
#include <limits>

#include "commands/record/counter/counter.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kNanoseconds = 1000000000;
constexpr std::uint64_t kRateNanoseconds = 5000000;

std::uint64_t read_clock(clockid_t which) {
    timespec time{};
    ::clock_gettime(which, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * kNanoseconds + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

RecordingClock::RecordingClock()
    : kind_(has_steady_counter() ? GR_CLOCK_COUNTER : GR_CLOCK_MONOTONIC),
      begin_(both()),
      begin_real_(read_clock(CLOCK_REALTIME)) {}

std::uint64_t RecordingClock::now() const {
    return kind_ == GR_CLOCK_COUNTER ? counter() : read_clock(CLOCK_MONOTONIC);
}

RecordingClock::Pair RecordingClock::both() const {
    constexpr int kReadings = 8;
    Pair best;
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < kReadings; ++i) {
        const std::uint64_t before = now();
        const std::uint64_t nanoseconds = read_clock(CLOCK_MONOTONIC);
        const std::uint64_t width = now() - before;
        if (width >= shortest) continue;
        shortest = width;
        best = {before + width / 2, nanoseconds};
    }
    return best;
}

double RecordingClock::cost_ticks() const {
    constexpr int kRounds = 20;
    constexpr int kReadings = 200;
    double least = std::numeric_limits<double>::max();
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t begin = now();
        std::uint64_t end = begin;
        for (int i = 0; i < kReadings; ++i) end = now();
        least = std::min(least, static_cast<double>(end - begin) / kReadings);
    }
    return least;
}

void RecordingClock::find_rate() {
    const std::uint64_t passed = read_clock(CLOCK_MONOTONIC) - begin_.nanoseconds;
    if (kind_ == GR_CLOCK_COUNTER) {
        if (passed < kRateNanoseconds) {
            const timespec rest{0, static_cast<long>(kRateNanoseconds - passed)};
            ::nanosleep(&rest, nullptr);
        }
        const Pair end = both();
        nanoseconds_per_tick_ =
            static_cast<double>(end.nanoseconds - begin_.nanoseconds) / static_cast<double>(end.ticks - begin_.ticks);
    }
    units_per_tick_ = nanoseconds_per_tick_ / static_cast<double>(trace::kTimeUnitNanoseconds);
    cost_nanoseconds_ = cost_ticks() * nanoseconds_per_tick_;
}

std::int64_t RecordingClock::real_time(std::uint64_t ticks) const {
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - begin_.ticks)) * nanoseconds_per_tick_;
    return static_cast<std::int64_t>(begin_real_) + static_cast<std::int64_t>(since);
}

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/clock.hpp"

#include <ctime>

#include "base/config.hpp"

namespace gr::platform {
namespace {

std::uint64_t read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kNanosecondsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t rough_nanoseconds() { return read_clock(CLOCK_MONOTONIC_COARSE); }
std::uint64_t nanoseconds() { return read_clock(CLOCK_MONOTONIC); }
std::uint64_t cpu_nanoseconds_of_process() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
std::uint64_t cpu_nanoseconds_of_thread() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t wall_clock_nanoseconds() { return read_clock(CLOCK_REALTIME); }

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "fake/clock.hpp"

#include <atomic>

#include "platform/clock.hpp"

namespace gr {
namespace {

std::atomic<std::uint64_t> now{1'000'000'000'000};

}  // namespace

void fake::pass_time(std::uint64_t nanoseconds) { now += nanoseconds; }

namespace platform {

std::uint64_t rough_nanoseconds() { return now; }
std::uint64_t nanoseconds() { return now; }
std::uint64_t cpu_nanoseconds_of_process() { return now; }
std::uint64_t cpu_nanoseconds_of_thread() { return now; }
std::uint64_t wall_clock_nanoseconds() { return now; }

}  // namespace platform
}  // namespace gr

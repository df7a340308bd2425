// SPDX-License-Identifier: Apache-2.0 OR MIT
// Not by libc's clock_gettime: a library that fakes the time replaces it, and may allocate or hold a lock there.
#include "platform/clock.hpp"

#include <sys/syscall.h>

#include <atomic>
#include <ctime>

#include "base/config.hpp"
#include "platform/syscall.hpp"
#include "platform/vdso.hpp"

namespace gr::platform {
namespace {

using GetTime = int (*)(clockid_t clock, timespec *time);

#if defined(__x86_64__)
constexpr const char *kGetTime = "__vdso_clock_gettime";
#else
constexpr const char *kGetTime = "__kernel_clock_gettime";
#endif

int get_time_by_system_call(clockid_t clock, timespec *time) {
    return static_cast<int>(system_call(SYS_clock_gettime, clock, time));
}

GetTime find_get_time() {
    void *const found = vdso_function(kGetTime);
    return found == nullptr ? get_time_by_system_call : reinterpret_cast<GetTime>(found);
}

std::uint64_t read_clock(clockid_t clock) {
    // Relaxed: all threads find the same function.
    static constinit std::atomic<GetTime> known{nullptr};
    GetTime get_time = known.load(std::memory_order_relaxed);
    if (get_time == nullptr) [[unlikely]] {
        get_time = find_get_time();
        known.store(get_time, std::memory_order_relaxed);
    }
    timespec now{};
    get_time(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kNanosecondsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t rough_nanoseconds() { return read_clock(CLOCK_MONOTONIC_COARSE); }
std::uint64_t nanoseconds() { return read_clock(CLOCK_MONOTONIC); }
std::uint64_t cpu_nanoseconds_of_process() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
std::uint64_t cpu_nanoseconds_of_thread() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t wall_clock_nanoseconds() { return read_clock(CLOCK_REALTIME); }

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: clock.hpp and vdso.hpp against libc's clocks.
// Invariant: errno stays as it was.
// Must not know: what the time is for.
#include "platform/clock.hpp"

#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "base/config.hpp"
#include "platform/vdso.hpp"

namespace gr::platform::clock_test {

std::uint64_t by_libc(clockid_t clock) {
    timespec now{};
    EXPECT_EQ(clock_gettime(clock, &now), 0);
    return static_cast<std::uint64_t>(now.tv_sec) * kNanosecondsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

void expect_same_clock(std::uint64_t (*read)(), clockid_t clock) {
    errno = EXDEV;
    const std::uint64_t before = by_libc(clock);
    const std::uint64_t now = read();
    EXPECT_LE(before, now);
    EXPECT_LE(now, by_libc(clock));
    EXPECT_EQ(errno, EXDEV);
}

TEST(Clock, IsTheKernels) {
    expect_same_clock(rough_nanoseconds, CLOCK_MONOTONIC_COARSE);
    expect_same_clock(nanoseconds, CLOCK_MONOTONIC);
    expect_same_clock(wall_clock_nanoseconds, CLOCK_REALTIME);
}

TEST(Clock, FunctionsOfTheKernelAreFoundByTheirWholeName) {
#if defined(__x86_64__)
    constexpr const char *kName = "__vdso_clock_gettime";
#else
    constexpr const char *kName = "__kernel_clock_gettime";
#endif
    EXPECT_EQ(vdso_function(kName) != nullptr, getauxval(AT_SYSINFO_EHDR) != 0);
    EXPECT_EQ(vdso_function("clock_gettime_of_nobody"), nullptr);
    EXPECT_EQ(vdso_function(""), nullptr);
}

}  // namespace gr::platform::clock_test

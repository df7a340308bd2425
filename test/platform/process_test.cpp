// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the facts about the process against what libc and /proc say, and the last words.
// Invariant: errno stays as it was.
// Must not know: what the allocator does with the facts.
#include "platform/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"

namespace gr::platform {
namespace {

TEST(Process, CpusAgreeWithTheKernel) {
    EXPECT_GE(usable_cpus(), 1U);
    EXPECT_EQ(usable_cpus(), static_cast<unsigned>(std::thread::hardware_concurrency()));
    EXPECT_GE(cpu_bound(), static_cast<unsigned>(get_nprocs_conf()));
    EXPECT_LE(usable_cpus(), cpu_bound());
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    EXPECT_EQ(usable_cpus(), 1U);
    sched_setaffinity(0, sizeof before, &before);
}

TEST(Process, MemoryAgreesWithTheKernel) {
    const std::size_t pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
    const std::size_t expected = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    EXPECT_EQ(physical_memory_bytes(), expected);
}

TEST(Process, ResidentBytesGrowWithWhatIsTouched) {
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    errno = 7;
    const std::size_t before = resident_bytes();
    std::vector<char> touched(kBytes, 1);
    EXPECT_GE(resident_bytes(), before + kBytes * 15 / 16);
    EXPECT_LE(resident_bytes(), before + kBytes * 17 / 16);
    EXPECT_EQ(touched.back(), 1);
    EXPECT_EQ(errno, 7);
}

TEST(Process, ResidentBytesKeepNoDescriptor) {
    const int before = dup(0);
    close(before);
    EXPECT_GT(resident_bytes(), 0U);
    const int after = dup(0);
    close(after);
    EXPECT_EQ(after, before);
}

TEST(Process, ResidentBytesAreUnknownWithoutDescriptors) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_EQ(resident_bytes(), 0U);
    setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Process, AddressSpaceLimitIsTheSoftOne) {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    if (before.rlim_cur == RLIM_INFINITY) {
        EXPECT_EQ(address_space_limit(), SIZE_MAX);
    }
    rlimit lower = before;
    lower.rlim_cur = rlim_t{1} << 46;
    ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
    EXPECT_EQ(address_space_limit(), std::size_t{1} << 46);
    setrlimit(RLIMIT_AS, &before);
}

TEST(Process, EnvironmentIsTheProcesss) {
    setenv("GR_TEST_VARIABLE", "here", 1);
    bool found = false;
    for (const char *const *e = environment(); *e != nullptr; ++e)
        found = found || !std::strcmp(*e, "GR_TEST_VARIABLE=here");
    EXPECT_TRUE(found);
    EXPECT_FALSE(is_secure());
    EXPECT_TRUE(is_relocated());
}

TEST(Process, WritesEverythingThroughASmallPipe) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const std::string text(300000, 'g');  // several pipes full
    long result = -1;
    std::thread writer([&] {
        result = write_all(ends[1], text.data(), text.size());
        close(ends[1]);
    });
    std::string got;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        got.append(buffer, static_cast<std::size_t>(n));
    writer.join();
    close(ends[0]);
    EXPECT_EQ(result, 0);
    EXPECT_EQ(got, text);
}

TEST(Process, WriteTellsTheKernelsErrorAndLeavesErrno) {
    errno = EXDEV;
    EXPECT_EQ(write_all(-1, "x", 1), -EBADF);
    EXPECT_EQ(write_all(-1, "", 0), 0);
    EXPECT_EQ(errno, EXDEV);
}

TEST(Process, StandardErrorCanBeKept) {
    const int kept = duplicate_stderr();
    ASSERT_GT(kept, 2);
    EXPECT_NE(fcntl(kept, F_GETFD) & FD_CLOEXEC, 0) << "a program that is started next would inherit it";
    close(kept);
}

TEST(ProcessDeathTest, FatalSaysItsLineAndAborts) {
    const std::string line = "granary: a test of the last words\n";
    EXPECT_EXIT(fatal(line.data(), line.size()), testing::KilledBySignal(SIGABRT),
                "^granary: a test of the last words\n$");
}

TEST(ProcessDeathTest, AFailedCheckNamesItsPlace) {
    EXPECT_EXIT(check_failed("1 == 2", "somewhere.cpp", 7), testing::KilledBySignal(SIGABRT),
                "^granary: internal check failed: 1 == 2 at somewhere.cpp:7; please report it\n$");
}

}  // namespace
}  // namespace gr::platform

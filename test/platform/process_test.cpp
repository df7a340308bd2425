// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the facts about the process against what libc and /proc say, and the last words.
// Invariant: errno stays as it was.
// Must not know: what the allocator does with the facts.
#include "platform/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"

namespace gr::platform::process_test {

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

TEST(Process, CpuBoundIsTheKernelsOwn) {
    const unsigned possible = possible_cpus("/sys/devices/system/cpu/possible");
    if (possible == 0) GTEST_SKIP() << "the machine shows no list of CPUs of the kernel's own";
    EXPECT_EQ(cpu_bound(), possible);
    EXPECT_GE(possible, static_cast<unsigned>(get_nprocs()));
}

TEST(Process, AListOfCpusThatIsNotTheKernelsIsNotBelieved) {
    const std::string path = testing::TempDir() + "possible-cpus-" + std::to_string(getpid());
    std::ofstream(path) << "0-3\n";
    EXPECT_EQ(possible_cpus(path.c_str()), 0U);
    std::remove(path.c_str());
    EXPECT_EQ(possible_cpus(path.c_str()), 0U);
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

TEST(Process, AVariableIsFoundByItsWholeName) {
    setenv("GR_TEST_VARIABLE", "here", 1);
    setenv("GR_TEST_NOTHING", "", 1);
    EXPECT_STREQ(variable("GR_TEST_VARIABLE"), "here");
    EXPECT_STREQ(variable("GR_TEST_NOTHING"), "");
    EXPECT_EQ(variable("GR_TEST_VARIABL"), nullptr);
    EXPECT_EQ(variable("GR_TEST_VARIABLES"), nullptr);
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

// Standard error is a pipe here, then whatever the test makes of its descriptors.
class StandardErrorTest : public testing::Test {
  protected:
    StandardErrorTest() : before_(dup(2)) {
        EXPECT_EQ(pipe2(ends_, O_NONBLOCK | O_CLOEXEC), 0);
        EXPECT_EQ(dup2(ends_[1], 2), 2);
        kept_.keep();
    }
    ~StandardErrorTest() override {
        dup2(before_, 2);
        for (const int fd : {before_, ends_[0], ends_[1], kDuplicate}) close(fd);
    }
    std::string written() {
        kept_.write_all("told", 4);
        char text[16];
        const ssize_t size = read(ends_[0], text, sizeof text);
        return {text, size < 0 ? 0 : static_cast<std::size_t>(size)};
    }

    static constexpr int kDuplicate = 100;  // the lowest that is tried; not used otherwise
    int before_;
    int ends_[2];
    KeptStderr kept_;
};

TEST_F(StandardErrorTest, IsKeptForThisProgramOnly) {
    EXPECT_NE(fcntl(kDuplicate, F_GETFD) & FD_CLOEXEC, 0) << "a program that is started next would inherit it";
    EXPECT_EQ(written(), "told");
}

TEST_F(StandardErrorTest, IsKeptWhenTheProgramClosesItsOwn) {
    close(2);
    EXPECT_EQ(written(), "told");
}

TEST_F(StandardErrorTest, IsTheProgramsOwnWhenTheKeptOneIsGone) {
    dup2(before_, kDuplicate);
    EXPECT_EQ(written(), "told");
}

TEST_F(StandardErrorTest, NothingIsWrittenElsewhere) {
    int other[2];
    ASSERT_EQ(pipe2(other, O_NONBLOCK | O_CLOEXEC), 0);
    dup2(other[1], kDuplicate);
    dup2(other[1], 2);
    EXPECT_EQ(written(), "");
    char text[16];
    EXPECT_EQ(read(other[0], text, sizeof text), -1) << "another file was written to";
    for (const int fd : other) close(fd);
}

TEST(StandardError, IsNotWrittenWhereThereWasNone) {
    const int before = dup(2);
    close(2);
    KeptStderr kept;
    kept.keep();
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    dup2(ends[1], 2);
    kept.write_all("told", 4);
    char text[16];
    EXPECT_EQ(read(ends[0], text, sizeof text), -1) << "a file that was opened later was written to";
    dup2(before, 2);
    for (const int fd : {before, ends[0], ends[1]}) close(fd);
}

TEST(Process, KnowsItsNumberAndItsCommand) {
    EXPECT_EQ(process_id(), static_cast<unsigned>(getpid()));
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    ASSERT_FALSE(words.empty());
    words.pop_back();
    for (char &c : words) c = c == '\0' ? ' ' : c;
    for (const std::size_t size : {words.size() + 100, words.size() + 1, words.size(), std::size_t{5}}) {
        std::string text(size, '#');
        command_line(text.data(), size);
        EXPECT_STREQ(text.c_str(), words.substr(0, size - 1).c_str());
    }
}

[[noreturn]] void end_by_name_without_files() {
    prctl(PR_SET_NAME, "a name");
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    char text[64];
    command_line(text, sizeof text);
    _exit(std::strcmp(text, "a name") == 0 ? 0 : 1);
}

TEST(ProcessDeathTest, WithoutProcTheKernelsNameServes) {
    EXPECT_EXIT(end_by_name_without_files(), testing::ExitedWithCode(0), "");
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

}  // namespace gr::platform::process_test

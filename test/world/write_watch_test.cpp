// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pages that were written to, as the kernel tells them, for each kind of write.
// Invariant: each page that is written to is told, once; where the kernel cannot tell, begin() says why.
// Must not know: what a collector makes of it.
#include "platform/world/write_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "platform/memory.hpp"

namespace gr::platform::write_watch_test {

using Pages = std::set<std::size_t>;

class WriteWatchTest : public testing::Test {
  protected:
    static constexpr std::size_t kPages = 3000;  // more than the kernel tells at once
    static constexpr std::size_t kReserved = 4 * kPages;

    void SetUp() override {
        ASSERT_NE(memory_, nullptr);
        ASSERT_TRUE(commit(memory_, kPages * page_));
        if (const char *const lack = watch_.begin({memory_, memory_ + kReserved * page_})) GTEST_SKIP() << lack;
    }
    void TearDown() override {
        watch_.forget();
        unmap(memory_, kReserved * page_);
    }

    char *page(std::size_t i) { return memory_ + i * page_; }
    void write(std::size_t i) { *page(i) = 1; }
    Pages written(WriteWatch::Then then = WriteWatch::Then::watch_on, std::size_t count = kPages) {
        Pages told;
        EXPECT_TRUE(watch_.for_each_written({memory_, page(count)}, then, [&](Range range) {
            for (const char *at = range.begin; at < range.end; at += page_)
                EXPECT_TRUE(told.insert(static_cast<std::size_t>(at - memory_) / page_).second);
        }));
        return told;
    }
    static Pages every_other() {
        Pages all;
        for (std::size_t i = 0; i < kPages; i += 2) all.insert(i);
        return all;
    }

    const std::size_t page_ = page_size();
    char *const memory_ = static_cast<char *>(reserve(kReserved * page_));
    WriteWatch watch_;
};

TEST_F(WriteWatchTest, TellsWhatWasWrittenSinceItWasAsked) {
    for (const std::size_t i : every_other()) write(i);
    EXPECT_EQ(written(), every_other());
    EXPECT_EQ(written(), Pages{});
    write(0);
    write(7);
    write(kPages - 1);
    EXPECT_EQ(written(WriteWatch::Then::leave), (Pages{0, 7, kPages - 1}));
    EXPECT_EQ(written(), (Pages{0, 7, kPages - 1}));
    EXPECT_EQ(written(), Pages{});
}

TEST_F(WriteWatchTest, WhatIsReadIsNotWritten) {
    write(1);
    EXPECT_EQ(written(), Pages{1});
    EXPECT_EQ(*static_cast<volatile char *>(page(1)), 1);
    EXPECT_EQ(written(), Pages{});
}

TEST_F(WriteWatchTest, TheKernelAndOtherThreadsWriteToo) {
    write(3);
    write(4);
    EXPECT_EQ(written(), (Pages{3, 4}));
    const int zero = open("/dev/zero", O_RDONLY);
    ASSERT_EQ(read(zero, page(3), 1), 1);
    close(zero);
    std::thread([this] { write(4); }).join();
    EXPECT_EQ(written(), (Pages{3, 4}));
}

TEST_F(WriteWatchTest, WhatWasGivenBackIsToldWhenSomebodyWritesThere) {
    write(5);
    EXPECT_EQ(written(), Pages{5});
    ASSERT_TRUE(purge(page(5), page_));
    EXPECT_EQ(written(), Pages{});
    write(5);
    EXPECT_EQ(written(), Pages{5});
}

TEST_F(WriteWatchTest, MemoryMayComeLater) {
    write(0);
    EXPECT_EQ(written(), Pages{0});
    ASSERT_TRUE(commit(page(kPages), kPages * page_));
    write(kPages + 1);
    EXPECT_EQ(written(WriteWatch::Then::watch_on, 2 * kPages), Pages{kPages + 1});
    EXPECT_EQ(written(WriteWatch::Then::watch_on, 2 * kPages), Pages{});
}

TEST_F(WriteWatchTest, WhatIsLeftIsToldAsWritten) {
    write(2);
    EXPECT_EQ(written(), Pages{2});
    watch_.leave({memory_, page(kPages)});
    EXPECT_EQ(written(), Pages{2});
}

TEST_F(WriteWatchTest, AChildBeginsAnew) {
    write(2);
    EXPECT_EQ(written(), Pages{2});
    const pid_t child = fork();
    if (child == 0) {
        const bool refused =
            !watch_.for_each_written({memory_, page(kPages)}, WriteWatch::Then::watch_on, [](Range) {});
        watch_.forget();
        const bool begun = watch_.begin({memory_, page(kReserved)}) == nullptr;
        const bool all = written() == Pages{2};
        write(9);
        _exit(refused && begun && all && written() == Pages{9} ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(written(), Pages{});
}

TEST_F(WriteWatchTest, AProgramThatClosesItIsNotClosedInTurn) {
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const int before = open("/dev/null", O_RDONLY);
    const int ours = before - 1;  // the lowest that was free
    close(before);
    ASSERT_EQ(close(ours), 0);
    ASSERT_EQ(open("/dev/null", O_RDONLY), ours);
    EXPECT_FALSE(watch_.for_each_written({memory_, page(kPages)}, WriteWatch::Then::watch_on, [](Range) {}));
    watch_.forget();
    EXPECT_EQ(close(ours), 0);
}

TEST_F(WriteWatchTest, NoDescriptorIsLeftSaysSo) {
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const rlimit none{0, files.rlim_max};
    WriteWatch other;
    setrlimit(RLIMIT_NOFILE, &none);
    const char *const lack = other.begin({memory_, page(kReserved)});
    setrlimit(RLIMIT_NOFILE, &files);
    EXPECT_NE(lack, nullptr);
}

}  // namespace gr::platform::write_watch_test

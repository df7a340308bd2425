// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: jemalloc2006 as it is composed: what serves which size, whose a block is that another thread frees, its
//    options.
// Invariant: each option is tried in a process of its own, for it is read once.
// Must not know: the face.
#include "allocators/jemalloc2006.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace gr::lab::jemalloc2006_test {

constinit Chosen allocator;

constexpr std::size_t kChunk = 2 * kMiB;
std::uintptr_t chunk_of(const void *p) { return reinterpret_cast<std::uintptr_t>(p) / kChunk; }

TEST(Jemalloc2006Test, SizesAreThoseOfFigure4) {
    const std::pair<std::size_t, std::size_t> sizes[] = {{0, 16},
                                                         {1, 16},
                                                         {17, 32},
                                                         {512, 512},
                                                         {513, kKiB},
                                                         {1025, 2 * kKiB},
                                                         {2049, 4 * kKiB},
                                                         {4097, 8 * kKiB},
                                                         {kMiB - 1, kMiB},
                                                         {kMiB, kMiB},
                                                         {kMiB + 1, 2 * kMiB},
                                                         {2 * kMiB, 2 * kMiB},
                                                         {2 * kMiB + 1, 4 * kMiB},
                                                         {5 * kMiB, 6 * kMiB}};
    for (const auto &[asked, given] : sizes) {
        void *const block = allocator.allocate(asked);
        EXPECT_EQ(allocator.usable_size(block), given) << asked;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kChunk == 0, asked > kMiB) << asked;
        allocator.free(block);
    }
    EXPECT_EQ(allocator.zeroed_above(), kMiB);
    EXPECT_EQ(allocator.allocate(SIZE_MAX), nullptr);
}

TEST(Jemalloc2006Test, EveryAlignmentAtManySizes) {
    for (std::size_t alignment = 1; alignment <= 8 * kMiB; alignment *= 2) {
        for (std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{24}, std::size_t{100}, 3 * kKiB, kMiB + 1}) {
            void *const block = allocator.allocate_aligned(size, alignment);
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::max(alignment, kAlignment), 0U);
            ASSERT_GE(allocator.usable_size(block), size);
            std::memset(block, 1, allocator.usable_size(block));
            allocator.free(block);
        }
    }
}

TEST(Jemalloc2006Test, ABlockGoesBackToItsArenaWhoeverFreesIt) {
    if (platform::usable_cpus() == 1) GTEST_SKIP() << "one processor has one arena";
    void *const block = allocator.allocate(64);
    std::thread([block] {
        void *const mine = allocator.allocate(64);
        EXPECT_NE(chunk_of(mine), chunk_of(block)) << "there are several arenas, and threads take them in turn";
        allocator.free(block);
        void *const next = allocator.allocate(64);
        EXPECT_EQ(chunk_of(next), chunk_of(mine));
        EXPECT_NE(next, block);
        allocator.free(next);
        allocator.free(mine);
    }).join();
    void *const again = allocator.allocate(64);
    EXPECT_EQ(again, block);
    allocator.free(again);
}

// "The first time that a thread allocates or deallocates memory, it is assigned to an arena."
TEST(Jemalloc2006Test, AThreadWhoseFirstCallIsFreeHasAnArena) {
    static constinit Chosen fresh;
    const auto free_in_a_thread = [] {
        void *const block = fresh.allocate(64);
        std::thread([block] { fresh.free(block); }).join();
    };
    const std::uintptr_t first = chunk_of(fresh.allocate(64));
    const unsigned arenas = platform::usable_cpus() == 1 ? 1 : 4 * platform::usable_cpus();
    for (unsigned i = 1; i < arenas; ++i) free_in_a_thread();
    std::uintptr_t next = 0;
    std::thread([&next] { next = chunk_of(fresh.allocate(64)); }).join();
    EXPECT_EQ(next, first) << "each of the others has had an arena before";
}

// Of this process: a sanitizer's is large.
std::size_t address_space() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * platform::page_size();
}

TEST(Jemalloc2006Test, ExhaustionIsNullptrAndEndsWithFrees) {
    const auto exhaust = [] {
        rlimit limit{};
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = address_space() + 256 * kMiB;
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        static void *blocks[1 << 20];
        std::size_t rounds[2] = {};
        for (std::size_t &count : rounds) {
            const std::size_t sizes[] = {100 * kKiB, 5000, 1000, 40, 3 * kMiB};
            for (const std::size_t size : sizes)
                while (void *const block = allocator.allocate(size)) blocks[count++] = block;
            for (std::size_t i = 0; i < count; ++i) allocator.free(blocks[i]);
        }
        _exit(rounds[1] * 10 >= rounds[0] * 9 ? 0 : 1);
    };
    EXPECT_EXIT(exhaust(), testing::ExitedWithCode(0), "");
}

// In a child that reads the options; what it returns is its exit code.
template <class Work>
void with_options(const char *letters, Work work) {
    static constinit Chosen fresh;
    setenv("MALLOC_OPTIONS", letters, 1);
    work(fresh);
}

TEST(Jemalloc2006OptionsTest, JunkAndZeroesFill) {
    EXPECT_EXIT(
        with_options("J",
                     [](Chosen &fresh) {
                         auto *const block = static_cast<unsigned char *>(fresh.allocate(100));
                         const bool was_junk = block[99] == MallocOptions::kJunk;
                         fresh.free(block);
                         _exit(was_junk && block[99] == MallocOptions::kFreedJunk && fresh.zeroed_above() == SIZE_MAX);
                     }),
        testing::ExitedWithCode(1), "^$");
    EXPECT_EXIT(with_options("Z",
                             [](Chosen &fresh) {
                                 auto *const block = static_cast<unsigned char *>(fresh.allocate(100));
                                 std::memset(block, 'x', 100);
                                 fresh.free(block);
                                 auto *const again = static_cast<unsigned char *>(fresh.allocate(100));
                                 _exit(again == block && std::count(again, again + 100, 0) == 100);
                             }),
                testing::ExitedWithCode(1), "^$");
}

TEST(Jemalloc2006OptionsTest, ChunksQuantumAndLimitChangeSizes) {
    EXPECT_EXIT(
        with_options("kQS?",
                     [](Chosen &fresh) {
                         const auto usable = [&](std::size_t n) { return fresh.usable_size(fresh.allocate(n)); };
                         // A region of 16 bytes is a tiny one then.
                         _exit(usable(1) == 16 && usable(17) == 32 && usable(33) == 64 && usable(600) == 608 &&
                               usable(kMiB / 2 + 1) == kMiB && usable(3 * kMiB - 1) == 3 * kMiB);
                     }),
        testing::ExitedWithCode(1), "^granary: lab: ignoring '.' in MALLOC_OPTIONS: it is not an option; [^\n]*\n$");
}

TEST(Jemalloc2006OptionsTest, ExhaustionMayBeFatal) {
    EXPECT_DEATH(with_options("X", [](Chosen &fresh) { fresh.allocate(kMaxRequest); }),
                 "no memory for [0-9]+ bytes; aborting, because of option X");
}

TEST(Jemalloc2006OptionsTest, NoBytesMayBeNoBlock) {
    EXPECT_EXIT(with_options("VX", [](Chosen &fresh) { _exit(fresh.allocate(0) == nullptr && fresh.allocate(1)); }),
                testing::ExitedWithCode(1), "^$");
}

TEST(Jemalloc2006OptionsTest, StatisticsAreToldAtExit) {
    EXPECT_EXIT(with_options("P",
                             [](Chosen &fresh) {
                                 for (int i = 0; i < 1000; ++i) fresh.allocate(100);
                                 fresh.allocate(10000);
                                 fresh.allocate(5 * kMiB);
                                 exit(0);
                             }),
                testing::ExitedWithCode(0),
                "Begin malloc statistics(.|\n)* arenas, chunks of 2097152 bytes\n"
                " *arena +large +chunks +most\n"
                " *0 +1 +1 +1\n"
                " *size +regions +pages +requests +runs made +runs +most\n"
                " *112 +36 +1 +1000 +28 +28 +28\n"
                "huge: 1 requests, 6291456 bytes now, 6291456 at most\n"
                "--- End malloc statistics ---\n$");
}

}  // namespace gr::lab::jemalloc2006_test

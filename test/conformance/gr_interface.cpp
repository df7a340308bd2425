// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the C interface of <granary/granary.h>, reached through weak references as a program would.
// Invariant: the counting equation holds in every snapshot; live counts are exact in a program of one thread.
// Must not know: what the statistics are computed from.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gr::conformance {
namespace {

class Interface : public testing::Test {
  protected:
    void SetUp() override {
        if (!black_box::granary_in_use()) {
            GTEST_SKIP() << "only Granary has it";
        }
    }
};

TEST_F(Interface, GoodSizeIsTheUsableSize) {
    for (std::size_t size = 0; size < std::size_t{80} << 20; size += 1 + size / 7) {
        // Asked before: the block itself may crowd the region, and later blocks are then rounded to pages.
        const std::size_t good = gr_good_size(size);
        void *const block = std::malloc(size);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(good, malloc_usable_size(block)) << size;
        std::free(block);
    }
    EXPECT_EQ(gr_good_size(SIZE_MAX), 0U);
    EXPECT_EQ(gr_good_size(std::size_t{PTRDIFF_MAX} + 1), 0U);
}

TEST_F(Interface, VersionIsTheHeaders) { EXPECT_EQ(gr_version(), static_cast<uint32_t>(GR_VERSION)); }

TEST_F(Interface, StatisticsNegotiateTheSize) {
    gr_statistics taken{};
    errno = 0;
    EXPECT_EQ(gr_statistics_get(nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    for (uint32_t size : {0u, 1u, 7u}) {
        taken.size = size;
        errno = 0;
        EXPECT_EQ(gr_statistics_get(&taken), -1) << size;
        EXPECT_EQ(errno, EINVAL) << size;
    }
    errno = 1234;
    taken.size = sizeof taken;
    EXPECT_EQ(gr_statistics_get(&taken), 0);
    EXPECT_EQ(errno, 1234);
    EXPECT_EQ(taken.size, sizeof taken);
    EXPECT_EQ(taken.version, static_cast<uint32_t>(GR_STATISTICS_VERSION));
}

TEST_F(Interface, StatisticsFillTheCommonPart) {
    struct Longer {
        gr_statistics known;
        std::array<unsigned char, 64> more;
    };
    for (uint32_t size :
         {8u, 16u, 24u, static_cast<uint32_t>(sizeof(gr_statistics)), static_cast<uint32_t>(sizeof(Longer))}) {
        Longer longer;
        std::memset(&longer, 0x77, sizeof longer);
        longer.known.size = size;
        ASSERT_EQ(gr_statistics_get(&longer.known), 0);
        const uint32_t filled = std::min(size, static_cast<uint32_t>(sizeof(gr_statistics)));
        EXPECT_EQ(longer.known.size, filled);
        EXPECT_EQ(longer.known.version, static_cast<uint32_t>(GR_STATISTICS_VERSION));
        const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&longer);
        for (std::size_t i = filled; i < sizeof longer; ++i) {
            ASSERT_EQ(bytes[i], 0x77) << "byte " << i << " written beyond the size " << size;
        }
    }
}

TEST_F(Interface, LiveCountsAreExact) {
    for (std::size_t size : boundary_sizes()) {
        std::array<void *, 40> blocks{};
        const gr_statistics before = black_box::statistics();
        std::size_t usable = 0;
        for (void *&block : blocks) {
            block = opaque(std::malloc(size));
            ASSERT_NE(block, nullptr);
            usable += malloc_usable_size(block);
        }
        const gr_statistics during = black_box::statistics();
        EXPECT_EQ(during.live_blocks, before.live_blocks + blocks.size()) << size;
        EXPECT_EQ(during.live_bytes, before.live_bytes + usable) << size;
        for (void *block : blocks) {
            std::free(block);
        }
        const gr_statistics after = black_box::statistics();
        EXPECT_EQ(after.live_blocks, before.live_blocks) << size;
        EXPECT_EQ(after.live_bytes, before.live_bytes) << size;
    }
}

TEST_F(Interface, RunsAndDirectMappingsAreCounted) {
    const gr_statistics before = black_box::statistics();
    void *run = opaque(std::malloc(kMiB));
    void *direct = opaque(std::malloc(64 * kMiB));
    const gr_statistics during = black_box::statistics();
    EXPECT_EQ(during.run_count, before.run_count + 1);
    EXPECT_GE(during.run_bytes, before.run_bytes + kMiB);
    EXPECT_EQ(during.direct_count, before.direct_count + 1);
    EXPECT_GE(during.direct_bytes, before.direct_bytes + 64 * kMiB);
    std::free(run);
    std::free(direct);
    const gr_statistics after = black_box::statistics();
    EXPECT_EQ(after.run_count, before.run_count);
    EXPECT_EQ(after.direct_count, before.direct_count);
    EXPECT_EQ(after.live_bytes, before.live_bytes);
}

// A buffer that grows step by step is mapped directly from some size on, and returns to the region when it is small.
TEST_F(Interface, WhatGrowsLargeIsMappedDirectly) {
    // One that has another right behind it cannot grow in place.
    std::set<char *> runs;
    while (runs.size() < 16) runs.insert(static_cast<char *>(opaque(std::malloc(kMiB))));
    const auto enclosed = std::find_if(runs.begin(), runs.end(), [&](char *run) { return runs.contains(run + kMiB); });
    ASSERT_NE(enclosed, runs.end());
    void *block = *enclosed;
    runs.erase(enclosed);
    const gr_statistics before = black_box::statistics();
    for (std::size_t size = 3 * kMiB; size <= 24 * kMiB; size *= 2) {
        block = opaque(std::realloc(block, size));
        const gr_statistics grown = black_box::statistics();
        EXPECT_EQ(grown.direct_count, before.direct_count + 1) << size;
        EXPECT_EQ(grown.run_count, before.run_count - 1) << size;
    }
    // Whole units: a crowded region takes nothing that would waste a part of one.
    block = opaque(std::realloc(block, 128 * kKiB));
    EXPECT_EQ(black_box::statistics().direct_count, before.direct_count);
    EXPECT_EQ(black_box::statistics().run_count, before.run_count);
    std::free(block);
    for (char *run : runs) std::free(run);
}

void churn(uint64_t seed, std::vector<void *> &kept) {
    Sequence random(seed);
    std::vector<void *> blocks(500, nullptr);
    for (int step = 0; step < 20000; ++step) {
        void *&slot = blocks[random.below(blocks.size())];
        std::free(slot);
        slot = std::malloc(random.below(std::size_t{16} << random.below(12)));
    }
    kept.insert(kept.end(), blocks.begin(), blocks.end());
}

TEST_F(Interface, TheCountingEquationHolds) {
    EXPECT_TRUE(black_box::counting_equation_holds(black_box::statistics()));
    std::vector<void *> kept;
    for (uint64_t round = 0; round < 10; ++round) {
        churn(round, kept);
        EXPECT_TRUE(black_box::counting_equation_holds(black_box::statistics())) << "one thread, round " << round;
        std::thread([round, &kept] { churn(round + 100, kept); }).join();
        EXPECT_TRUE(black_box::counting_equation_holds(black_box::statistics())) << "another thread, round " << round;
    }
    for (void *block : kept) {
        std::free(block);
    }
    gr_trim(0);
    const gr_statistics after = black_box::statistics();
    EXPECT_TRUE(black_box::counting_equation_holds(after));
    EXPECT_LE(after.superblocks, after.heap_bytes / (64 * kKiB));
    EXPECT_LE(after.heap_bytes, after.reserved_bytes);
}

TEST_F(Interface, TrimGivesBack) {
    gr_trim(0);
    const gr_statistics before = black_box::statistics();
    std::vector<void *> blocks(6 * kKiB);
    for (void *&block : blocks) {
        block = std::malloc(kKiB);
        std::memset(block, 1, kKiB);
    }
    for (void *block : blocks) {
        std::free(block);
    }
    const gr_statistics freed = black_box::statistics();
    const std::size_t given = gr_trim(0);
    const gr_statistics after = black_box::statistics();
    EXPECT_GE(after.purged_bytes - before.purged_bytes + 2 * kMiB, 6 * kMiB) << "most of 6 MiB was kept";
    EXPECT_GT(given, 0u);
    EXPECT_EQ(after.purged_bytes - freed.purged_bytes, given);
    EXPECT_GT(after.purge_calls, freed.purge_calls);
    EXPECT_EQ(after.retained_bytes, 0u);
    EXPECT_EQ(gr_trim(0), 0u);
}

TEST_F(Interface, TrimKeepsWhatItIsTold) {
    gr_trim(0);
    void *block = std::malloc(6 * kMiB);
    std::memset(block, 1, 6 * kMiB);
    std::free(block);
    EXPECT_EQ(gr_trim(64 * kMiB), 0u);
    EXPECT_LE(gr_trim(2 * kMiB), 6 * kMiB);
    EXPECT_LE(black_box::statistics().retained_bytes, 2 * kMiB);
}

TEST_F(Interface, OwnsBlocksOnly) {
    static int static_object = 0;
    int local = 0;
    EXPECT_EQ(gr_owns(nullptr), 0);
    EXPECT_EQ(gr_owns(&static_object), 0);
    EXPECT_EQ(gr_owns(&local), 0);
    EXPECT_EQ(gr_owns(reinterpret_cast<void *>(&gr_owns)), 0);
    EXPECT_EQ(gr_owns(reinterpret_cast<void *>(UINTPTR_MAX)), 0);
    std::vector<std::size_t> sizes = boundary_sizes();
    sizes.insert(sizes.end(), {31 * kMiB, 33 * kMiB, 64 * kMiB});
    for (std::size_t size : sizes) {
        char *block = static_cast<char *>(opaque(std::malloc(size)));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(gr_owns(block), 1) << size;
        EXPECT_EQ(gr_owns(block + 1), 0) << size;
        std::free(block);
    }
    void *foreign = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(foreign, MAP_FAILED);
    EXPECT_EQ(gr_owns(foreign), 0);
    munmap(foreign, 65536);
}

TEST_F(Interface, DoesNotOwnFreedLargeBlocks) {
    for (std::size_t size : {kMiB, 64 * kMiB}) {
        void *block = opaque(std::malloc(size));
        EXPECT_EQ(gr_owns(block), 1);
        std::free(block);
        EXPECT_EQ(gr_owns(block), 0) << size;
    }
}

TEST_F(Interface, UtilizationOfBlocksOnly) {
    gr_utilization use{};
    char *const block = static_cast<char *>(opaque(std::malloc(100)));
    errno = 1234;
    EXPECT_EQ(gr_page_utilization(block, &use), 0);
    EXPECT_EQ(errno, 1234);
    EXPECT_EQ(use.block_bytes, malloc_usable_size(block));
    EXPECT_LE(use.superblock_used, use.superblock_blocks);
    EXPECT_LE(use.class_used, use.class_blocks);
    EXPECT_GE(use.class_used, use.superblock_used);
    for (const void *other :
         {static_cast<const void *>(nullptr), static_cast<const void *>(&use), static_cast<const void *>(block + 16)}) {
        errno = 0;
        EXPECT_EQ(gr_page_utilization(other, &use), -1);
        EXPECT_EQ(errno, EINVAL);
    }
    errno = 0;
    EXPECT_EQ(gr_page_utilization(block, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    std::free(block);
}

// What a server that defragments does, a batch at a time: new places first, then the old ones go.
std::size_t move_what_helps(std::vector<void *> &blocks, std::size_t size) {
    std::vector<std::pair<void **, void *>> moves;
    for (void *&block : blocks) {
        gr_utilization use{};
        EXPECT_EQ(gr_page_utilization(block, &use), 0);
        if (use.move_helps != 0) moves.emplace_back(&block, std::malloc(size));
    }
    for (auto &[place, to] : moves) {
        std::memcpy(to, *place, size);
        std::free(*place);
        *place = to;
    }
    gr_trim(0);
    return moves.size();
}

TEST_F(Interface, UtilizationTellsWhatToMove) {
    constexpr std::size_t kSize = 200;
    constexpr std::size_t kBlocks = 100000;
    Sequence random(7);
    std::vector<void *> all(kBlocks);
    for (void *&block : all) block = std::malloc(kSize);
    std::vector<void *> sparse;
    for (void *block : all) {
        if (random.below(10) == 0) {
            sparse.push_back(block);
        } else {
            std::free(block);
        }
    }
    gr_trim(0);
    const std::size_t before = black_box::statistics().heap_bytes;
    while (move_what_helps(sparse, kSize) > sparse.size() / 10) {
    }
    EXPECT_LT(black_box::statistics().heap_bytes, before / 2);
    for (void *block : sparse) std::free(block);
}

constexpr std::size_t kMostRows = 200;

TEST_F(Interface, ClassStatisticsCountWhatIsAllocated) {
    const int count = gr_class_statistics_get(nullptr, nullptr, 0);
    ASSERT_EQ(count, static_cast<int>(class_sizes().size() + 2));
    static std::array<gr_class_statistics, kMostRows> before;
    static std::array<gr_class_statistics, kMostRows> during;
    before[0].size = during[0].size = sizeof before[0];
    std::array<void *, 30> blocks{};
    const std::vector<std::size_t> sizes = class_sizes();
    for (std::size_t i = 0; i < sizes.size() + 2; ++i) {
        const std::size_t size = i < sizes.size() ? sizes[i] : i == sizes.size() ? kMiB : 40 * kMiB;
        ASSERT_EQ(gr_class_statistics_get(nullptr, before.data(), kMostRows), count);
        for (void *&block : blocks) block = opaque(std::malloc(size));
        errno = 1234;
        ASSERT_EQ(gr_class_statistics_get(nullptr, during.data(), kMostRows), count);
        EXPECT_EQ(errno, 1234);
        for (void *block : blocks) std::free(block);
        for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row) {
            const uint64_t more = row == i ? blocks.size() : 0;
            ASSERT_EQ(during[row].live_blocks, before[row].live_blocks + more) << size << ", row " << row;
            ASSERT_EQ(during[row].live_bytes, before[row].live_bytes + more * size) << size << ", row " << row;
        }
        EXPECT_EQ(during[i].block_size, i < sizes.size() ? size : 0);
    }
    EXPECT_EQ(during[sizes.size()].kind, static_cast<uint64_t>(GR_CLASS_RUNS));
    EXPECT_EQ(during[sizes.size() + 1].kind, static_cast<uint64_t>(GR_CLASS_DIRECT));
}

TEST_F(Interface, ClassStatisticsAddUpToTheStatistics) {
    static std::array<gr_class_statistics, kMostRows> rows;
    std::vector<void *> kept;
    for (uint64_t round = 0; round < 5; ++round) {
        std::thread([round, &kept] { churn(round + 200, kept); }).join();
        rows[0].size = sizeof rows[0];
        const int count = gr_class_statistics_get(nullptr, rows.data(), rows.size());
        const gr_statistics whole = black_box::statistics();
        gr_statistics sum{};
        for (int i = 0; i < count; ++i) {
            const gr_class_statistics &row = rows[static_cast<std::size_t>(i)];
            sum.live_bytes += row.live_bytes;
            sum.live_blocks += row.live_blocks;
            sum.magazine_blocks += row.magazine_blocks;
            sum.remote_bytes += row.remote_blocks * row.block_size;
            sum.free_blocks += row.free_blocks;
            sum.superblocks += row.superblocks;
            sum.heap_bytes += row.address_bytes;
        }
        EXPECT_EQ(sum.live_bytes, whole.live_bytes);
        EXPECT_EQ(sum.live_blocks, whole.live_blocks);
        EXPECT_EQ(sum.magazine_blocks, whole.magazine_blocks);
        EXPECT_EQ(sum.remote_bytes, whole.remote_bytes);
        EXPECT_EQ(sum.free_blocks, whole.free_blocks);
        EXPECT_EQ(sum.superblocks, whole.superblocks);
        EXPECT_EQ(sum.heap_bytes, whole.heap_bytes + whole.direct_bytes);
    }
    for (void *block : kept) std::free(block);
}

TEST_F(Interface, ClassStatisticsRefuseWhatIsNoRow) {
    gr_class_statistics row{};
    for (const uint32_t size : {0u, 7u, 12u}) {
        row.size = size;
        errno = 0;
        EXPECT_EQ(gr_class_statistics_get(nullptr, &row, 1), -1) << size;
        EXPECT_EQ(errno, EINVAL);
    }
    errno = 0;
    EXPECT_EQ(gr_class_statistics_get(nullptr, nullptr, 1), -1);
    EXPECT_EQ(errno, EINVAL);
}

struct Total {
    uint64_t blocks = 0;
    uint64_t bytes = 0;
};

int add_to_total(void *total, void *block, std::size_t bytes) {
    static_cast<Total *>(total)->blocks += 1;
    static_cast<Total *>(total)->bytes += bytes;
    return malloc_usable_size(block) == bytes && gr_owns(block) == 1 ? 0 : 1;
}

// The program's own blocks are among them, so the numbers are held against the statistics.
TEST_F(Interface, AWalkVisitsAsManyBlocksAsAreLive) {
    std::vector<void *> kept;
    for (uint64_t round = 0; round < 5; ++round) {
        churn(round + 300, kept);
        std::thread([round, &kept] { churn(round + 400, kept); }).join();
        for (const std::size_t size : {kMiB, 40 * kMiB}) kept.push_back(std::malloc(size));
        const gr_statistics whole = black_box::statistics();
        Total total;
        errno = 1234;
        ASSERT_EQ(gr_heap_walk(nullptr, add_to_total, &total), 0);
        EXPECT_EQ(errno, 1234);
        EXPECT_EQ(total.blocks, whole.live_blocks);
        EXPECT_EQ(total.bytes, whole.live_bytes);
    }
    for (void *block : kept) std::free(block);
}

int find(void *wanted, void *block, std::size_t) { return block == wanted ? 77 : 0; }

TEST_F(Interface, AWalkEndsWithWhatTheCallReturns) {
    for (const std::size_t size : {std::size_t{1}, kMiB, 40 * kMiB}) {
        void *const block = opaque(std::malloc(size));
        EXPECT_EQ(gr_heap_walk(nullptr, find, block), 77);
        std::free(block);
        EXPECT_EQ(gr_heap_walk(nullptr, find, block), 0) << size << ": it is free";
    }
    errno = 0;
    EXPECT_EQ(gr_heap_walk(nullptr, nullptr, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
}

constexpr const char *kOptions[] = {"STATS",  "STATS_INTERVAL", "VERBOSE", "RSEQ",    "REGION",
                                    "RETAIN", "REUSE",          "DIRECT",  "MAGAZINE"};

TEST_F(Interface, OptionsArePrinted) {
    for (gr_format format : {GR_TEXT, GR_JSON}) {
        const int file = memfd_create("options", 0);
        ASSERT_EQ(gr_options_print(file, format), 0);
        std::string text(65536, '\0');
        text.resize(static_cast<std::size_t>(pread(file, text.data(), text.size(), 0)));
        for (char &letter : text) {
            letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        }
        for (const char *option : kOptions) {
            EXPECT_NE(text.find(option), std::string::npos) << option << " is missing from:\n" << text;
        }
        close(file);
    }
    errno = 0;
    EXPECT_EQ(gr_options_print(-1, GR_TEXT), -1);
    EXPECT_EQ(errno, EBADF);
    for (const gr_format format : {GR_TEXT, GR_JSON, GR_PROMETHEUS}) {
        errno = 0;
        EXPECT_EQ(gr_statistics_print(-1, format), -1);
        EXPECT_EQ(errno, EBADF);
    }
}

TEST_F(Interface, OptionsAreCopied) {
    for (const char *option : kOptions) {
        std::array<char, 64> value{};
        std::string lower(option);
        for (char &letter : lower) {
            letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
        const int length = gr_option_get(option, value.data(), value.size());
        ASSERT_GT(length, 0) << option;
        EXPECT_EQ(std::strlen(value.data()), static_cast<std::size_t>(length)) << option;
        std::array<char, 64> again{};
        EXPECT_EQ(gr_option_get(lower.c_str(), again.data(), again.size()), length) << "any case is accepted";
        EXPECT_STREQ(again.data(), value.data());
        std::array<char, 3> little{'x', 'x', 'x'};
        EXPECT_EQ(gr_option_get(option, little.data(), 2), length) << "the length of the whole value";
        EXPECT_EQ(little[0], value[0]);
        EXPECT_EQ(little[1], '\0');
        EXPECT_EQ(little[2], 'x');
        EXPECT_EQ(gr_option_get(option, nullptr, 0), length);
    }
    std::array<char, 8> value{};
    errno = 0;
    EXPECT_EQ(gr_option_get("NO_SUCH_OPTION", value.data(), value.size()), -1);
    EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace gr::conformance

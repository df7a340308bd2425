// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: requests in bytes: sizes, alignments, zeroes, resizing, owning, giving back, and memory that runs out.
// Invariant: first_fault() is null after every test (fresh_instance.hpp) and after every refusal.
// Must not know: the C library's names.
#include "instance/instance.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "instance/fresh_instance.hpp"
#include "instance/statistics.hpp"
#include "platform/reentry.hpp"

namespace gr::instance_test {

using fake::Call;
using fake::FreshInstance;

bool is_zero(const char *p, std::size_t size) {
    return size == 0 || (p[0] == 0 && std::memcmp(p, p + 1, size - 1) == 0);
}

// Around every boundary between classes, runs and direct blocks.
std::vector<std::size_t> sizes() {
    std::vector<std::size_t> all;
    for (std::size_t size = 0; size <= 2 * kFineLimit; size += 7) all.push_back(size);
    for (std::size_t size = kFineLimit; size <= 2 * kDirectThreshold; size *= 2) {
        for (std::size_t near : {size - 1, size, size + 1, size + size / 2}) all.push_back(near);
    }
    return all;
}

TEST(Instance, EverySizeIsServedAlignedWritableAndKnown) {
    FreshInstance instance;
    for (const std::size_t size : sizes()) {
        char *const p = static_cast<char *>(instance->allocate(size));
        ASSERT_NE(p, nullptr) << size;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0U);
        const std::size_t usable = instance->usable_size("test", p);
        ASSERT_GE(usable, size);
        ASSERT_GE(usable, 1U);
        p[0] = p[usable - 1] = 1;
        ASSERT_TRUE(instance->owns(p));
        ASSERT_FALSE(instance->owns(p + 1));
        instance->free("test", p);
    }
}

TEST(Instance, EveryAlignmentIsKept) {
    FreshInstance instance;
    for (std::size_t alignment = 1; alignment <= 16 * kMiB; alignment *= 2) {
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}, 40 * kKiB, kMiB, 40 * kMiB}) {
            std::vector<char *> blocks;
            for (int i = 0; i < 3; ++i) {
                char *const p = static_cast<char *>(instance->allocate_aligned(size, alignment));
                ASSERT_NE(p, nullptr) << size << " by " << alignment;
                ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
                ASSERT_GE(instance->usable_size("test", p), size);
                if (size != 0) p[0] = p[size - 1] = 1;
                blocks.push_back(p);
            }
            for (char *p : blocks) instance->free("test", p);
        }
    }
}

TEST(Instance, ZeroedIsZeroAlsoOnMemoryThatWasUsed) {
    FreshInstance instance({{"GRANARY_RETAIN", "1G"}});
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t size : sizes()) {
            char *const p = static_cast<char *>(instance->allocate_zeroed(size));
            ASSERT_NE(p, nullptr);
            ASSERT_TRUE(is_zero(p, size)) << size << " in round " << round;
            std::memset(p, 0x5a, size);
            instance->free("test", p);
        }
    }
}

// And on memory that a refused purge left as garbage.
TEST(Instance, ZeroedIsZeroWhenPurgesFail) {
    FreshInstance instance({{"GRANARY_RETAIN", "0"}});
    fake::fail(Call::purge, 0);
    for (int round = 0; round < 3; ++round) {
        for (std::size_t size = 1000; size < 3 * kZeroedAtOnce; size += size < kMiB ? 30011 : 300011) {
            char *const p = static_cast<char *>(instance->allocate_zeroed(size));
            ASSERT_TRUE(is_zero(p, size)) << size;
            std::memset(p, 0x5a, size);
            instance->free("test", p);
        }
    }
    EXPECT_GT(fake::calls(Call::purge), 0U);
}

std::size_t resident_pages(const void *p, std::size_t size) {
    std::vector<unsigned char> pages(divide_up(size, platform::page_size()));
    EXPECT_EQ(::mincore(const_cast<void *>(p), size, pages.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

// A program that fills a table and keeps it may use little of it.
TEST(Instance, ZeroesThatAreKeptAreLeftToTheKernel) {
    FreshInstance instance;
    std::size_t resident = 0;
    for (const std::size_t size : {kClassLimit + 1, std::size_t{4 * kUnitBytes}, kZeroedAtOnce})
        for (int i = 0; i < 20; ++i) resident += resident_pages(instance->allocate_zeroed(size), size);
    EXPECT_LE(resident * platform::page_size(), kZeroCreditFirst);
    EXPECT_GT(resident, 0U);
    EXPECT_EQ(resident_pages(instance->allocate_zeroed(kZeroedAtOnce + 1), kZeroedAtOnce), 0U);
}

// A program that reads a page before it writes it shall not pay for two faults.
TEST(Instance, ZeroesOfWhoFreesThemAreWrittenAtOnce) {
    FreshInstance instance({{"GRANARY_RETAIN", "0"}});
    constexpr std::size_t kSize = 5 * kUnitBytes;
    std::vector<void *> blocks(40);
    for (int round = 0; round < 2; ++round) {
        std::size_t resident = 0;
        for (void *&block : blocks) {
            block = instance->allocate_zeroed(kSize);
            resident += resident_pages(block, kSize);
        }
        if (round == 0) {
            EXPECT_LT(resident * platform::page_size(), blocks.size() * kSize / 2);
        } else {
            EXPECT_EQ(resident * platform::page_size(), blocks.size() * kSize);
        }
        for (void *const block : blocks) instance->free("test", block);
    }
}

// And what malloc's blocks were says nothing of calloc's.
TEST(Instance, WhoFreesOnlyMallocsBlocksEarnsNoZeroes) {
    FreshInstance instance({{"GRANARY_RETAIN", "0"}});
    constexpr std::size_t kSize = 5 * kUnitBytes;
    for (int i = 0; i < 100; ++i) instance->free("test", instance->allocate(kSize));
    std::size_t resident = 0;
    for (int i = 0; i < 40; ++i) resident += resident_pages(instance->allocate_zeroed(kSize), kSize);
    EXPECT_LE(resident * platform::page_size(), kZeroCreditFirst);
}

TEST(Instance, ResizingKeepsTheBytes) {
    FreshInstance instance;
    std::mt19937_64 random{2};
    for (const std::size_t top : {std::size_t{2000}, 100 * kKiB, 3 * kMiB, 80 * kMiB}) {
        std::size_t size = 1 + random() % top;
        char *p = static_cast<char *>(instance->allocate(size));
        std::memset(p, 7, size);
        for (int step = 0; step < (top > kMiB ? 30 : 300); ++step) {
            const std::size_t next = 1 + random() % top;
            p = static_cast<char *>(instance->resize("test", p, next));
            ASSERT_NE(p, nullptr);
            const std::size_t kept = next < size ? next : size;
            for (std::size_t i = 0; i < kept; i += 61) ASSERT_EQ(p[i], 7) << size << " to " << next;
            ASSERT_EQ(p[kept - 1], 7);
            ASSERT_GE(instance->usable_size("test", p), next);
            size = next;
            std::memset(p, 7, size);
        }
        instance->free("test", p);
    }
}

TEST(Instance, AShrinkByLessThanHalfStaysAndAGrowthOfARunCanStay) {
    FreshInstance instance;
    void *const small = instance->allocate(1000);
    EXPECT_EQ(instance->resize("test", small, 600), small);
    EXPECT_NE(instance->resize("test", small, 100), small);
    void *const run = instance->allocate(200 * kKiB);
    EXPECT_EQ(instance->resize("test", run, 2 * kMiB), run);
    EXPECT_EQ(instance->usable_size("test", run), 2 * kMiB);
    EXPECT_EQ(instance->resize("test", run, 100 * kKiB), run);
    EXPECT_EQ(instance->usable_size("test", run), 2 * kUnitBytes);
    instance->free("test", run);
}

// The tail of a run that shrinks serves any request; it comes back as it is: retained or returned to the OS.
TEST(Instance, ARunGrowsAndShrinksWhereItLies) {
    constexpr std::size_t kSmall = 2 * kUnitBytes;
    constexpr std::size_t kLarge = 8 * kUnitBytes;
    FreshInstance instance;
    char *const run = static_cast<char *>(instance->allocate_aligned(kSmall, kChunkBytes));
    std::memset(run, 7, kSmall);
    const auto expect_content = [&](std::size_t size) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(run) % kChunkBytes, 0U);
        EXPECT_EQ(instance->usable_size("test", run), size);
        EXPECT_TRUE(std::all_of(run, run + kSmall, [](char byte) { return byte == 7; }));
        for (std::size_t inside = kUnitBytes; inside < kLarge; inside += kUnitBytes)
            EXPECT_FALSE(instance->owns(run + inside));
        EXPECT_TRUE(instance->owns(run));
    };
    ASSERT_EQ(instance->resize("test", run, kLarge), run) << "into units that nobody ever used";
    expect_content(kLarge);
    for (const bool retained : {true, false}) {
        std::memset(run + kSmall, 9, kLarge - kSmall);
        ASSERT_EQ(instance->resize("test", run, kSmall), run);
        expect_content(kSmall);
        EXPECT_EQ(instance->pages().retained_bytes(), kLarge - kSmall);
        char *const tail = static_cast<char *>(instance->allocate_zeroed(kLarge - kSmall));
        ASSERT_EQ(tail, run + kSmall) << "the test tests nothing";
        EXPECT_TRUE(is_zero(tail, kLarge - kSmall));
        instance->free("test", tail);
        if (!retained) instance->trim(0);
        EXPECT_EQ(instance->pages().retained_bytes() == 0, !retained);
        ASSERT_EQ(instance->resize("test", run, kLarge), run);
        expect_content(kLarge);
        EXPECT_EQ(instance->pages().retained_bytes(), 0U);
    }
    instance->free("test", run);
}

TEST(Instance, ARefusedResizeLeavesTheBlock) {
    FreshInstance instance;
    for (const std::size_t size : {std::size_t{100}, 100 * kKiB, 40 * kMiB}) {
        char *const p = static_cast<char *>(instance->allocate(size));
        std::memset(p, 3, size);
        EXPECT_EQ(instance->resize("test", p, kMaxRequest), nullptr);
        EXPECT_EQ(instance->resize("test", p, kMaxRequest + 1), nullptr);
        EXPECT_EQ(instance->resize("test", p, SIZE_MAX), nullptr);
        fake::fail(Call::map, 0);
        fake::fail(Call::remap, 0);
        EXPECT_EQ(instance->resize("test", p, size + 64 * kMiB), nullptr);
        fake::reset();
        EXPECT_TRUE(instance->owns(p));
        EXPECT_EQ(p[0] + p[size - 1], 6);
        instance->free("test", p);
    }
}

TEST(Instance, ARefusedResizeInPlaceLeavesTheBlock) {
    FreshInstance instance;
    char *const run = static_cast<char *>(instance->allocate(100 * kKiB));
    char *const direct = static_cast<char *>(instance->allocate(40 * kMiB));
    std::memset(run, 3, 100 * kKiB);
    std::memset(direct, 3, 40 * kMiB);
    fake::fail(Call::remap, 0);
    EXPECT_EQ(instance->resize_in_place("test", direct, 41 * kMiB, 50 * kMiB), 0U);
    EXPECT_EQ(instance->resize_in_place("test", direct, 40 * kMiB, 50 * kMiB), 40 * kMiB);
    fake::reset();
    {
        const platform::Reentry entry;  // as a signal handler that interrupted the heaps
        EXPECT_EQ(instance->resize_in_place("test", run, kMiB, kMiB), 0U);
        EXPECT_EQ(instance->resize_in_place("test", run, 1, kMiB), 2 * kUnitBytes);
        EXPECT_EQ(instance->resize_in_place("test", run, 1, 1), 2 * kUnitBytes);
    }
    EXPECT_EQ(instance->resize_in_place("test", run, kDirectThreshold + 1, SIZE_MAX), 0U) << "no run is so large";
    EXPECT_EQ(instance->usable_size("test", run), 2 * kUnitBytes) << "nor was it made as large as one can be";
    EXPECT_EQ(run[0] + run[100 * kKiB - 1] + direct[0] + direct[40 * kMiB - 1], 12);
    EXPECT_EQ(instance->resize_in_place("test", run, 1, SIZE_MAX), kDirectThreshold) << "as much as a run can have";
    instance->free("test", run);
    instance->free("test", direct);
}

TEST(Instance, ABlockInPlaceGrowsUpToTheHardLimit) {
    FreshInstance instance({{"GRANARY_LIMIT", "0,128M"}});
    const MemoryLimit &limit = instance->pages().limit();
    void *const run = instance->allocate(kMiB);
    void *const direct = instance->allocate(64 * kMiB);
    ASSERT_EQ(instance->resize_in_place("test", direct, 1, 40 * kMiB), 40 * kMiB);
    const std::size_t before = limit.held();
    EXPECT_EQ(instance->resize_in_place("test", direct, 200 * kMiB, 200 * kMiB), 0U);
    EXPECT_EQ(instance->resize_in_place("test", direct, 1, 200 * kMiB), 40 * kMiB);
    EXPECT_EQ(limit.held(), before);
    EXPECT_EQ(instance->resize_in_place("test", direct, 60 * kMiB, 200 * kMiB), 60 * kMiB) << "the least fits";
    EXPECT_EQ(limit.held(), before + 20 * kMiB);
    EXPECT_EQ(instance->resize_in_place("test", run, 2 * kMiB, 3 * kMiB), 3 * kMiB);
    EXPECT_EQ(limit.held(), before + 22 * kMiB);
    instance->free("test", run);
    instance->free("test", direct);
}

TEST(Instance, SizesBeyondAnythingAreRefused) {
    FreshInstance instance;
    for (const std::size_t size : {kMaxRequest, kMaxRequest + 1, SIZE_MAX - 4096, SIZE_MAX}) {
        EXPECT_EQ(instance->allocate(size), nullptr);
        EXPECT_EQ(instance->allocate_zeroed(size), nullptr);
        EXPECT_EQ(instance->allocate_aligned(size, 64), nullptr);
        EXPECT_EQ(instance->allocate_aligned(1, SIZE_MAX / 2 + 1), nullptr);
        EXPECT_EQ(instance->allocate_aligned_zeroed(size, 64), nullptr);
        EXPECT_EQ(instance->allocate_aligned_zeroed(1, SIZE_MAX / 2 + 1), nullptr);
    }
}

// A threshold beyond any region must not cut a request's number of units to 32 bits.
TEST(Instance, AThresholdBeyondTheRegionIsHarmless) {
    FreshInstance instance({{"GRANARY_DIRECT", "4194304T"}});
    for (const std::size_t size : {(std::size_t{1} << 48) + 1, (std::size_t{1} << 49) + kUnitBytes}) {
        void *const p = instance->allocate(size);
        EXPECT_TRUE(p == nullptr || instance->usable_size("test", p) >= size) << "a block that is too small";
    }
}

TEST(Instance, WhenTheRegionIsFullBlocksAreMapped) {
    FreshInstance instance({{"GRANARY_REGION", "4M"}});
    std::vector<char *> blocks;
    while (instance->direct().count() < 10) {
        char *const p = static_cast<char *>(instance->allocate(3000));
        ASSERT_NE(p, nullptr);
        std::memset(p, 1, 3000);
        blocks.push_back(p);
    }
    fake::fail(Call::map, 0);
    EXPECT_EQ(instance->allocate(3000), nullptr);
    EXPECT_EQ(instance->allocate_zeroed(3000), nullptr);
    EXPECT_EQ(instance->allocate_aligned(3000, 256), nullptr);
    EXPECT_EQ(instance->first_fault(), nullptr);
    fake::reset();
    for (char *p : blocks) instance->free("test", p);
    EXPECT_EQ(instance->direct().count(), 0U);
}

TEST(Instance, WithoutARegionEveryBlockIsMapped) {
    fake::reset();
    Instance instance;
    fake::fail(Call::reserve, 0);
    fake::fail(Call::map_at, 0);
    EXPECT_FALSE(instance.ensure_started());
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, 100 * kKiB}) {
        char *const p = static_cast<char *>(instance.allocate_zeroed(size));
        ASSERT_NE(p, nullptr);
        EXPECT_TRUE(is_zero(p, size));
        EXPECT_TRUE(instance.owns(p));
        char *const q = static_cast<char *>(instance.resize("test", p, 50000));
        ASSERT_NE(q, nullptr);
        instance.free("test", q);
        void *const aligned = instance.allocate_aligned(size, kMiB);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % kMiB, 0U);
        instance.free("test", aligned);
    }
    EXPECT_EQ(instance.direct().count(), 0U);
    EXPECT_EQ(instance.trim(0), 0U);
    EXPECT_EQ(instance.first_fault(), nullptr);
}

TEST(Instance, OwnsLiveBlocksOnly) {
    FreshInstance instance;
    EXPECT_FALSE(instance->owns(nullptr));
    EXPECT_FALSE(instance->owns(&instance));
    EXPECT_FALSE(instance->owns(instance->region().base()));
    for (const std::size_t size : {std::size_t{50}, 100 * kKiB, 40 * kMiB}) {
        char *const p = static_cast<char *>(instance->allocate(size));
        EXPECT_TRUE(instance->owns(p));
        EXPECT_FALSE(instance->owns(p + 16));
        instance->free("test", p);
        if (size > kClassLimit) {
            EXPECT_FALSE(instance->owns(p));
        }
    }
}

TEST(Instance, TrimGivesEverythingBackOnceAllIsFree) {
    FreshInstance instance;
    std::vector<void *> blocks;
    for (const std::size_t size : sizes()) {
        if (size > kMiB) continue;
        for (int i = 0; i < 10; ++i) blocks.push_back(instance->allocate(size));
    }
    for (void *p : blocks) instance->free("test", p);
    EXPECT_GT(instance->trim(0), 0U);
    EXPECT_EQ(instance->pages().retained_bytes(), 0U);
    // With sequences, magazines of CPUs that this thread has left keep a little.
    EXPECT_LT(instance->pages().used_bytes(), 4 * kMiB);
    if (!instance->heaps().uses_sequences()) {
        EXPECT_EQ(instance->pages().used_bytes(), 0U);
    }
}

TEST(Instance, TrimGivesBackPagesBesideBlocksThatStay) {
    FreshInstance instance;
    constexpr std::size_t kSize = 256, kKept = 64;
    std::vector<unsigned char *> blocks;
    const std::uint64_t at_first = count_statistics(*instance).purged_bytes;
    for (std::size_t i = 0; i < 64 * kKept; ++i) {
        blocks.push_back(static_cast<unsigned char *>(instance->allocate(kSize)));
        std::memset(blocks.back(), 1, kSize);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (i % kKept != 0) instance->free("test", blocks[i]);
    }
    const std::uint64_t before = count_statistics(*instance).purged_bytes;
    const std::size_t trimmed = instance->trim(kGiB);
    EXPECT_EQ(count_statistics(*instance).purged_bytes - before, trimmed);
    EXPECT_GT(trimmed, 0U);
    EXPECT_GT(before + trimmed - at_first, blocks.size() * kSize / 2);
    for (std::size_t i = 0; i < blocks.size(); i += kKept) {
        EXPECT_EQ(std::count(blocks[i], blocks[i] + kSize, 1), static_cast<std::ptrdiff_t>(kSize));
        instance->free("test", blocks[i]);
    }
}

TEST(Instance, ErrnoStaysAsItWas) {
    FreshInstance instance;
    errno = EXDEV;
    for (const std::size_t size : {std::size_t{50}, 100 * kKiB, 40 * kMiB})
        instance->free("test", instance->allocate(size));
    instance->trim(0);
    EXPECT_EQ(errno, EXDEV);
}

// The whole of it, with sequences where there are any, on units that no thread may touch.
TEST(Instance, NoByteOfABlockIsTouched) {
    FreshInstance instance({{"GRANARY_RETAIN", "0"}});
    auto &region = const_cast<Region &>(instance->region());
    ASSERT_TRUE(region.ensure_chunks(region.chunk_limit()));
    ASSERT_EQ(mprotect(region.address(region.first_unit()), region.chunk_limit() * kChunkBytes, PROT_NONE), 0);
    std::mt19937 random{4};
    std::vector<void *> blocks;
    for (int round = 0; round < 20; ++round) {
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            for (int i = 0; i < (c < 70 ? 100 : 4); ++i)
                blocks.push_back(instance->allocate(size_of_class(ClassIndex(c))));
        }
        while (blocks.size() > 1500) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            instance->free("test", blocks.back());
            blocks.pop_back();
        }
        ASSERT_EQ(instance->first_fault(), nullptr);
        instance->trim(0);
        static_cast<void>(count_statistics(*instance));
    }
    for (void *p : blocks) instance->free("test", p);
    EXPECT_EQ(instance->direct().count(), 0U) << "blocks outside the region were not under test";
}

std::vector<void *> allocate_until_refused(Instance &instance, std::size_t size) {
    std::vector<void *> blocks;
    while (void *const p = instance.allocate(size)) blocks.push_back(p);
    return blocks;
}

// Each way to get memory stops at the limit, and what was freed in one size can be had in another.
TEST(Instance, TheHardLimitHoldsForEveryWayToGetMemory) {
    FreshInstance instance({{"GRANARY_LIMIT", "0,48M"}, {"GRANARY_DIRECT", "4M"}, {"GRANARY_RETAIN", "1G"}});
    const MemoryLimit &limit = instance->pages().limit();
    for (const std::size_t size : {std::size_t{100}, std::size_t{2000}, 30 * kKiB, 200 * kKiB, 3 * kMiB, 5 * kMiB}) {
        std::vector<void *> blocks = allocate_until_refused(*instance, size);
        EXPECT_GT(blocks.size() * size, 34 * kMiB) << size;
        EXPECT_LE(limit.held(), 48 * kMiB) << size;
        const gr_statistics held = count_statistics(*instance);
        EXPECT_EQ(limit.held(), held.heap_bytes + held.retained_bytes + held.metadata_bytes + held.direct_bytes);
        EXPECT_EQ(instance->allocate_zeroed(6 * kMiB), nullptr);
        EXPECT_EQ(instance->allocate_aligned(6 * kMiB, kUnitBytes), nullptr);
        EXPECT_EQ(instance->resize("test", blocks.back(), 20 * kMiB), nullptr);
        for (void *p : blocks) instance->free("test", p);
    }
    EXPECT_EQ(instance->allocate(kGiB), nullptr);
    void *const p = instance->allocate(40 * kMiB);
    EXPECT_NE(p, nullptr);
    instance->free("test", p);
}

// The function that is told frees, which takes the allocator's locks, and allocates.
TEST(Instance, WhoRegisteredIsToldOfTheSoftLimit) {
    FreshInstance instance({{"GRANARY_LIMIT", "32M"}});
    struct Told {
        Instance *instance;
        std::vector<void *> spare;
        unsigned times;
        std::size_t held;
    } told{&*instance, {}, 0, 0};
    for (unsigned i = 0; i < 50; ++i) told.spare.push_back(instance->allocate(30 * kKiB));  // not a part of the limit
    instance->on_pressure(
        [](void *context, std::size_t held) {
            Told &of = *static_cast<Told *>(context);
            ++of.times;
            of.held = held;
            for (void *p : std::exchange(of.spare, {})) of.instance->free("test", p);
            of.instance->free("test", of.instance->allocate(100 * kKiB));
        },
        &told);
    std::vector<void *> blocks;
    while (blocks.size() < 100) blocks.push_back(instance->allocate(500 * kKiB));
    EXPECT_EQ(told.times, 1U);
    EXPECT_GT(told.held, 32 * kMiB);
    EXPECT_TRUE(told.spare.empty());
    EXPECT_EQ(instance->pages().retained_bytes(), 0U);
    for (void *p : blocks) instance->free("test", p);
    instance->trim(0);
    instance->on_pressure(nullptr, nullptr);
    for (void *&p : blocks) p = instance->allocate(500 * kKiB);
    EXPECT_EQ(told.times, 1U);
    for (void *p : blocks) instance->free("test", p);
}

TEST(Instance, AHandlerThatInterruptedTheHeapsTellsNobody) {
    FreshInstance instance({{"GRANARY_LIMIT", "32M"}});
    unsigned times = 0;
    instance->on_pressure([](void *context, std::size_t) { ++*static_cast<unsigned *>(context); }, &times);
    void *p = nullptr;
    {
        const platform::Reentry interrupted;
        p = instance->allocate(40 * kMiB);
    }
    EXPECT_TRUE(instance->pages().limit().is_above_soft());
    EXPECT_EQ(times, 0U);
    instance->free("test", instance->allocate(kMiB));
    EXPECT_EQ(times, 1U) << "the news were lost";
    instance->free("test", p);
}

TEST(Instance, AHardLimitBelowTheTablesIsIgnored) {
    testing::internal::CaptureStderr();
    FreshInstance instance({{"GRANARY_LIMIT", "0,100K"}});
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("granary: ignoring GRANARY_LIMIT: a hard limit of 102400 bytes leaves no room"), 0U) << said;
    EXPECT_EQ(said.find('\n'), said.size() - 1);
    EXPECT_FALSE(instance->pages().limit().has_hard());
    void *const p = instance->allocate(kMiB);
    EXPECT_NE(p, nullptr);
    instance->free("test", p);
}

}  // namespace gr::instance_test

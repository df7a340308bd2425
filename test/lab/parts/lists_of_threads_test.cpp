// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/boehm/lists_of_threads.hpp, global_free_lists.hpp, local_free_lists.hpp and
//    block_groups.hpp: Boehm's allocation (002), step by step; and by many threads.
// Invariant: a block in use bears its own mark, so one that is given twice is seen.
// Must not know: how a table finds a thread.
#include "parts/boehm/lists_of_threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

#include "lab/teams.hpp"
#include "parts/composed/heaps_and_large.hpp"

namespace gr::lab::lists_of_threads_test {

struct alignas(kAlignment) Block {
    std::array<char, kAlignment> bytes;
};

TEST(BlockGroupsTest, AGroupComesBackWhole) {
    std::array<Block, 12> blocks;
    BlockGroups groups;
    for (std::size_t i = 0; i < 3; ++i) {
        FreeList group;
        for (std::size_t j = 0; j < 4; ++j) group.push(&blocks[4 * i + j]);
        groups.push(group);
    }
    EXPECT_EQ(groups.count(), 3U);
    for (std::size_t i = 3; i-- > 0;) {
        FreeList group = groups.pop(4);
        EXPECT_EQ(group.count(), 4U);
        for (std::size_t j = 4; j-- > 0;) EXPECT_EQ(group.pop(), &blocks[4 * i + j]);
        EXPECT_EQ(group.pop(), nullptr);
    }
    EXPECT_TRUE(groups.pop(4).is_empty());
}

using Global = GlobalFreeLists<kHeapPageBytes>;
constexpr std::size_t kSize = 64;
const unsigned kBin = Global::Blocks::bin_of(kSize);
const std::size_t kGroup = Global::group_of(kBin);

TEST(GlobalFreeListsTest, APageIsDividedIntoObjectsOfOneSizeInTheirOrder) {
    Global global;
    FreeList group = global.take_group(kBin);
    ASSERT_EQ(group.count(), kGroup);
    EXPECT_EQ(global.free_objects(kBin), 0U);
    auto *last = static_cast<char *>(group.pop());
    const Container *const page = Container::at(last, kHeapPageBytes);
    EXPECT_EQ(page->bin, kBin);
    EXPECT_EQ(page->blocks, kGroup);
    while (auto *const object = static_cast<char *>(group.pop())) {
        EXPECT_EQ(object, last + kSize);
        EXPECT_EQ(Global::Blocks::usable_size(object), kSize);
        last = object;
    }
    EXPECT_LE(last + kSize, reinterpret_cast<const char *>(page) + kHeapPageBytes);
}

TEST(GlobalFreeListsTest, WhoTakesOneLeavesTheRestOfThePage) {
    Global global;
    std::set<void *> taken;
    for (std::size_t i = 0; i < kGroup; ++i) {
        EXPECT_TRUE(taken.insert(global.take(kBin)).second);
        EXPECT_EQ(global.free_objects(kBin), kGroup - 1 - i);
        EXPECT_TRUE(global.is_valid());
    }
    EXPECT_EQ(parts_of({taken.begin(), taken.end()}, kHeapPageBytes).size(), 1U);
    EXPECT_EQ(taken.count(global.take(kBin)), 0U);
}

// V's order: what was swept, what is in the list, a new page. Here a group is what was swept.
TEST(GlobalFreeListsTest, AGroupIsGivenBeforeWhatIsLooseAndThisBeforeANewPage) {
    Global global;
    FreeList group = global.take_group(kBin);
    void *const loose = global.take(kBin);
    const std::size_t rest = kGroup - 1;
    global.put_group(kBin, group);
    EXPECT_EQ(global.take_group(kBin).count(), kGroup);
    EXPECT_EQ(global.take_group(kBin).count(), rest);
    FreeList fresh = global.take_group(kBin);
    EXPECT_EQ(fresh.count(), kGroup);
    EXPECT_NE(Container::at(fresh.pop(), kHeapPageBytes), Container::at(loose, kHeapPageBytes));
}

TEST(GlobalFreeListsTest, WhatIsPutOneByOneBecomesGroups) {
    Global global;
    FreeList all = global.take_group(kBin);
    all.append(global.take_group(kBin));
    void *const last = all.pop();
    while (void *const object = all.pop()) global.put(kBin, object);
    EXPECT_TRUE(global.is_valid());
    EXPECT_EQ(global.free_objects(kBin), 2 * kGroup - 1);
    EXPECT_EQ(global.take_group(kBin).count(), kGroup);
    EXPECT_EQ(global.take_group(kBin).count(), kGroup - 1);
    global.put(kBin, last);
    EXPECT_EQ(global.take(kBin), last);
}

using Chosen = ListsOfThreads<ThreadPointer, Frees::to_local_list>;
using FreesGlobally = ListsOfThreads<ThreadPointer, Frees::to_global_list>;
using AtOnce = ListsOfThreads<ThreadPointer, Frees::to_local_list, 0>;
static_assert(SmallHeaps<Chosen> && SmallHeaps<FreesGlobally> && SmallHeaps<AtOnce>);

// In a thread of its own, which ends with the test.
template <class Heaps>
void in_thread(auto work) {
    const auto heaps = std::make_unique<Heaps>();
    std::thread([&] {
        work(*heaps);
        heaps->thread_ends();
    }).join();
    EXPECT_TRUE(heaps->global().is_valid());
}
std::vector<void *> take_many(auto &heaps, std::size_t count) {
    std::vector<void *> objects(count);
    for (void *&object : objects) object = heaps.take(kSize);
    return objects;
}
void put_all(auto &heaps, const std::vector<void *> &objects) {
    for (void *const object : objects) heaps.put(object);
}
template <class Local>
bool is_valid(const Local *lists) {
    return lists->is_valid([](unsigned bin) { return Global::group_of(bin); });
}

constexpr std::size_t kPagesWorth = kHeapPageBytes / kSize;

TEST(ListsOfThreadsTest, AListBeginsWhenAPagesWorthWasTaken) {
    in_thread<Chosen>([](Chosen &heaps) {
        std::vector<void *> objects = take_many(heaps, kPagesWorth - 1);
        EXPECT_FALSE(heaps.lists_of_caller()->has_list(kBin));
        objects.push_back(heaps.take(kSize));
        EXPECT_TRUE(heaps.lists_of_caller()->has_list(kBin));
        EXPECT_FALSE(heaps.lists_of_caller()->has_list(kBin + 1)) << "each size has a count of its own";
        EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), 0U);
        const std::size_t free_globally = heaps.global().free_objects(kBin);
        objects.push_back(heaps.take(kSize));
        EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), free_globally - 1) << "the list is refilled";
        EXPECT_TRUE(is_valid(heaps.lists_of_caller()));
        put_all(heaps, objects);
    });
}

TEST(ListsOfThreadsTest, WithoutAThresholdItBeginsAtOnce) {
    in_thread<AtOnce>([](AtOnce &heaps) {
        void *const object = heaps.take(kSize);
        EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), kGroup - 1);
        heaps.put(object);
        EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), kGroup);
    });
}

TEST(ListsOfThreadsTest, BeforeThatFreedObjectsGoToTheGlobalListAndCountToo) {
    in_thread<Chosen>([](Chosen &heaps) {
        const std::size_t half = kPagesWorth / 2;
        put_all(heaps, take_many(heaps, half));
        EXPECT_EQ(heaps.global().free_objects(kBin), kGroup);
        EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), 0U);
        EXPECT_TRUE(heaps.lists_of_caller()->has_list(kBin));
    });
}

// So a thread that frees what others allocate has a list, too, and takes a lock for each group only.
TEST(ListsOfThreadsTest, WhoOnlyFreesHasAListAfterAPagesWorth) {
    in_thread<Chosen>([](Chosen &heaps) {
        const std::vector<void *> objects = take_many(heaps, 2 * kPagesWorth);
        const std::size_t free_globally = heaps.global().free_objects(kBin);
        std::thread([&] {
            put_all(heaps, objects);
            EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), kPagesWorth);
            EXPECT_EQ(heaps.global().free_objects(kBin), free_globally + kPagesWorth);
            heaps.thread_ends();
        }).join();
        EXPECT_EQ(heaps.global().free_objects(kBin), free_globally + 2 * kPagesWorth);
    });
}

TEST(ListsOfThreadsTest, AThreadKeepsLessThanTwoGroups) {
    in_thread<Chosen>([](Chosen &heaps) {
        const std::vector<void *> objects = take_many(heaps, 10 * kGroup);
        const std::size_t free_before = heaps.global().free_objects(kBin) + heaps.lists_of_caller()->free_objects(kBin);
        for (void *const object : objects) {
            heaps.put(object);
            ASSERT_TRUE(is_valid(heaps.lists_of_caller()));
        }
        EXPECT_GE(heaps.lists_of_caller()->free_objects(kBin), kGroup);
        EXPECT_EQ(heaps.global().free_objects(kBin) + heaps.lists_of_caller()->free_objects(kBin),
                  free_before + objects.size());
    });
}

TEST(ListsOfThreadsTest, WhereFreeIsGlobalTheListOnlyShrinks) {
    in_thread<FreesGlobally>([](FreesGlobally &heaps) {
        const std::vector<void *> objects = take_many(heaps, 3 * kGroup);
        const std::size_t kept = heaps.lists_of_caller()->free_objects(kBin);
        const std::size_t free_globally = heaps.global().free_objects(kBin);
        EXPECT_LT(kept, kGroup);
        put_all(heaps, objects);
        EXPECT_EQ(heaps.lists_of_caller()->free_objects(kBin), kept);
        EXPECT_EQ(heaps.global().free_objects(kBin), free_globally + objects.size());
    });
}

TEST(ListsOfThreadsTest, LargerSizesAreAlwaysGlobal) {
    in_thread<Chosen>([](Chosen &heaps) {
        const unsigned bin = Chosen::kLocalBins;
        const std::size_t size = Global::Blocks::size_of(bin);
        std::vector<void *> objects(20);
        for (void *&object : objects) object = heaps.take(size);
        EXPECT_EQ(heaps.lists_of_caller(), nullptr);
        put_all(heaps, objects);
        EXPECT_GE(heaps.global().free_objects(bin), objects.size());
    });
}

TEST(ListsOfThreadsTest, WhatAThreadLeavesIsInTheGlobalListsAndTheNextBeginsAnew) {
    const auto heaps = std::make_unique<Chosen>();
    std::size_t made = 0;
    for (int i = 0; i < 20; ++i) {
        std::thread([&] {
            put_all(*heaps, take_many(*heaps, 5 * kPagesWorth));
            heaps->thread_ends();
            EXPECT_EQ(heaps->lists_of_caller(), nullptr);
            put_all(*heaps, take_many(*heaps, 5 * kPagesWorth));
            EXPECT_EQ(heaps->lists_of_caller(), nullptr) << "it has ended";
        }).join();
        if (i == 0) made = heaps->global().free_objects(kBin);
        EXPECT_EQ(heaps->global().free_objects(kBin), made) << "all is free again, and nothing is added";
        std::thread([&] {
            heaps->put(heaps->take(kSize));
            EXPECT_FALSE(heaps->lists_of_caller()->has_list(kBin));
            heaps->thread_ends();
        }).join();
    }
}

// A thread's reserve is what it allocated at most, and a page's worth of each of its sizes.
TEST(ListsOfThreadsTest, AThreadReservesNoMoreThanItAllocated) {
    in_thread<Chosen>([](Chosen &heaps) {
        std::mt19937 random(5);
        std::array<std::size_t, Chosen::kLocalBins> allocated{};
        std::vector<void *> objects;
        for (int i = 0; i < 20000; ++i) {
            const std::size_t size = random() % 700 >> random() % 6;
            objects.push_back(heaps.take(size));
            const unsigned bin = Global::Blocks::bin_of(size);
            allocated[bin] += Global::Blocks::size_of(bin);
            const std::size_t reserve = heaps.lists_of_caller()->free_objects(bin) * Global::Blocks::size_of(bin);
            ASSERT_LT(reserve, kHeapPageBytes);
            ASSERT_LE(reserve, allocated[bin]);
        }
        put_all(heaps, objects);
    });
}

// Of the process: the lists are found by thread.
template <class Heaps>
inline constinit HeapsAndLarge<Heaps> allocator_of{};

template <class Heaps>
class Ways : public testing::Test {};
using AllWays = testing::Types<Chosen, FreesGlobally, AtOnce>;
TYPED_TEST_SUITE(Ways, AllWays);

TYPED_TEST(Ways, NothingIsGivenTwiceWhoeverFreesIt) {
    auto &allocator = allocator_of<TypeParam>;
    constexpr unsigned kPlaces = 512;
    static std::atomic<std::uint64_t *> places[kPlaces];
    std::atomic<unsigned> wrong{0};
    const auto free = [&](std::uint64_t *block) {
        if (block[0] != reinterpret_cast<std::uintptr_t>(block) || block[1] != block[0]) ++wrong;
        block[0] = 0;
        allocator.free(block);
    };
    for (unsigned generation = 0; generation < 4; ++generation) {
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < 4; ++t)
            threads.emplace_back([&, seed = generation * 4 + t] {
                std::mt19937 random(seed);
                for (unsigned i = 0; i < 20000; ++i) {
                    std::uint64_t *mine = nullptr;
                    if (random() % 2 == 0) {
                        mine = static_cast<std::uint64_t *>(allocator.allocate(16 + random() % 3000));
                        mine[0] = mine[1] = reinterpret_cast<std::uintptr_t>(mine);
                    }
                    std::uint64_t *const other = places[random() % kPlaces].exchange(mine);
                    if (other != nullptr) free(other);
                }
                allocator.thread_ends();
            });
        for (std::thread &thread : threads) thread.join();
        EXPECT_TRUE(allocator.heaps().global().is_valid());
    }
    for (auto &place : places)
        if (std::uint64_t *const block = place.exchange(nullptr)) free(block);
    EXPECT_EQ(wrong, 0U);
}

TYPED_TEST(Ways, AlignedBlocksAreAlignedAndFreed) {
    auto &allocator = allocator_of<TypeParam>;
    for (std::size_t alignment = 32; alignment <= 4 * kMiB; alignment *= 2) {
        void *const block = allocator.allocate_aligned(100, alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
        EXPECT_GE(allocator.usable_size(block), 100U);
        allocator.free(block);
    }
    EXPECT_EQ(allocator.allocate(kMaxRequest), nullptr);
}

TYPED_TEST(Ways, AForkedChildAllocatesThoughOthersWereAmidAnOperation) {
    auto &allocator = allocator_of<TypeParam>;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            while (!stop.load()) put_all(allocator.heaps(), take_many(allocator.heaps(), 3 * kGroup));
            allocator.thread_ends();
        });
    for (int i = 0; i < 4; ++i) {
        const std::vector<void *> mine = take_many(allocator.heaps(), 3 * kGroup);
        allocator.lock();
        const pid_t child = fork();
        if (child == 0) {
            allocator.unlock();
            alarm(60);
            put_all(allocator.heaps(), mine);
            std::thread([&] { put_all(allocator.heaps(), take_many(allocator.heaps(), 3 * kGroup)); }).join();
            _exit(allocator.heaps().global().is_valid() ? 0 : 1);
        }
        allocator.unlock();
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        put_all(allocator.heaps(), mine);
    }
    stop.store(true);
    for (std::thread &thread : threads) thread.join();
}

TYPED_TEST(Ways, WhatIsNoBlockEnds) {
    auto &allocator = allocator_of<TypeParam>;
    auto *const block = static_cast<char *>(allocator.allocate(100));
    EXPECT_DEATH(allocator.free(block + 1), "not a block in use");
    alignas(kHeapPageBytes) static char foreign[2 * kHeapPageBytes];
    EXPECT_DEATH(allocator.free(foreign + kHeapPageBytes / 2), "not a block in use");
    allocator.free(block);
}

}  // namespace gr::lab::lists_of_threads_test

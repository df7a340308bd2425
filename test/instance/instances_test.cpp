// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: first-class heaps beside the global instance: made and destroyed, apart from each other, held by fork.
// Invariant: after every test as much is mapped as before it, and nothing is left locked.
// Must not know: the C library's names.
#include "instance/instances.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "fake/memory.hpp"
#include "instance/statistics.hpp"
#include "platform/reentry.hpp"

namespace gr::instances_test {

using fake::Call;

constexpr std::size_t kSmallRegion = 4 * kMiB;
constexpr std::size_t kRun = 100 * kKiB;

class InstancesTest : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        setenv("GRANARY_REGION", "256M", 1);
        ASSERT_TRUE(instance.ensure_started());
        ASSERT_TRUE(Direct::make_table());  // which all instances share, and nobody gives back
    }
    void SetUp() override {
        fake::reset();
        mapped_before_ = fake::mapped_bytes();
    }
    void TearDown() override {
        fake::reset();
        EXPECT_EQ(instances.first_fault(), nullptr);
        for (gr_heap *heap : heaps_) instances.destroy("test", heap);
        EXPECT_EQ(fake::mapped_bytes(), mapped_before_) << "a mapping was lost";
    }
    gr_heap *make(std::size_t region_bytes = 64 * kMiB) {
        gr_heap *const heap = instances.make(region_bytes, "gr_heap_free");
        if (heap != nullptr) heaps_.push_back(heap);
        return heap;
    }
    void destroy(gr_heap *heap) {
        std::erase(heaps_, heap);
        instances.destroy("test", heap);
    }

    std::size_t mapped_before_ = 0;
    std::vector<gr_heap *> heaps_;
};

TEST_F(InstancesTest, AHeapsBlocksAreItsOwn) {
    gr_heap *const a = make();
    gr_heap *const b = make();
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{30000}, kRun, 40 * kMiB}) {
        void *const in_a = a->instance.allocate(size);
        void *const in_b = b->instance.allocate_aligned(size, 4096);
        std::memset(in_a, 1, size);
        std::memset(in_b, 2, size);
        EXPECT_TRUE(a->instance.owns(in_a) && b->instance.owns(in_b)) << size;
        EXPECT_FALSE(a->instance.contains(in_b) || b->instance.contains(in_a)) << size;
        EXPECT_FALSE(instance.contains(in_a) || instance.contains(in_b)) << size;
        EXPECT_EQ(static_cast<char *>(in_a)[size - 1], 1);
        a->instance.free("test", in_a);
    }
    EXPECT_FALSE(a->instance.heaps().uses_sequences());
}

TEST_F(InstancesTest, DestroyingTakesWhateverIsLive) {
    for (int round = 0; round < 20; ++round) {
        gr_heap *const heap = make();
        for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, kRun, 40 * kMiB, 200 * kMiB})
            ASSERT_NE(heap->instance.allocate(size), nullptr);
        gr_heap *const other = make();
        void *const direct = other->instance.allocate(64 * kMiB);
        destroy(heap);
        EXPECT_EQ(other->instance.usable_size("test", direct), 64 * kMiB) << "a block of another heap went, too";
        destroy(other);
        ASSERT_EQ(fake::mapped_bytes(), mapped_before_) << round;
    }
}

// First, last, and between others.
TEST_F(InstancesTest, HeapsAreDestroyedInAnyOrder) {
    std::mt19937 random{3};
    for (int round = 0; round < 30; ++round) {
        for (int i = 0; i < 5; ++i) {
            gr_heap *const heap = make(kSmallRegion);
            ASSERT_NE(heap, nullptr);
            ASSERT_NE(heap->instance.allocate(100), nullptr);
        }
        while (!heaps_.empty()) {
            destroy(heaps_[random() % heaps_.size()]);
            ASSERT_EQ(instances.first_fault(), nullptr);
        }
    }
}

TEST_F(InstancesTest, RefusedMemoryMakesNoHeapAndLeavesNothing) {
    for (const Call call : {Call::reserve, Call::commit, Call::make_readable, Call::map}) {
        unsigned refused = 0;
        for (unsigned passes = 0;; ++passes) {
            fake::reset();
            fake::fail(call, passes);
            gr_heap *const heap = make(kSmallRegion);
            if (heap != nullptr) break;
            ++refused;
            ASSERT_EQ(fake::mapped_bytes(), mapped_before_) << "call " << static_cast<int>(call) << " after " << passes;
        }
        EXPECT_GT(refused, 0U) << static_cast<int>(call);
        destroy(heaps_.back());
    }
}

TEST_F(InstancesTest, ARegionIsAsLargeAsWantedOrUsual) {
    const auto reserved = [this](std::size_t wanted) {
        gr_heap *const heap = make(wanted);
        return heap == nullptr ? 0 : heap->instance.region().chunk_limit() * kChunkBytes;
    };
    EXPECT_EQ(reserved(1), kRegionMinBytes);
    EXPECT_EQ(reserved(100 * kMiB), 100 * kMiB);
    EXPECT_EQ(reserved(0), kFirstClassRegionBytes);
    // Not more: an emulator keeps a record of each page that is reserved.
    EXPECT_EQ(reserved(2 * kFirstClassRegionBytes), 2 * kFirstClassRegionBytes);
}

TEST_F(InstancesTest, WhatDoesNotFitIsMappedAndGoesWithTheHeap) {
    gr_heap *const heap = make(kSmallRegion);
    std::vector<void *> blocks;
    while (heap->instance.direct().count() < 20) {
        void *const p = heap->instance.allocate(3000);
        ASSERT_NE(p, nullptr);
        blocks.push_back(p);
    }
    fake::fail(Call::map, 0);
    EXPECT_EQ(heap->instance.allocate(3000), nullptr);
    EXPECT_EQ(heap->instance.allocate(8 * kMiB), nullptr);
    fake::reset();
    heap->instance.free("test", blocks.back());
    EXPECT_EQ(heap->instance.direct().count(), 19U);
}

TEST_F(InstancesTest, ThreadsFreeEachOthersBlocks) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kRounds = 3000;
    gr_heap *const heaps[] = {make(), make()};
    struct Handed {
        std::atomic<void *> block[64];
    };
    Handed handed[2] = {};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937 random{t};
            for (unsigned i = 0; i < kRounds; ++i) {
                const unsigned which = random() % 2;
                const std::size_t size = random() % 100 == 0 ? kRun : 1 + random() % 3000;
                void *const p = heaps[which]->instance.allocate(size);
                std::memset(p, static_cast<int>(t), size);
                void *const old = handed[which].block[random() % 64].exchange(p);
                if (old != nullptr) heaps[which]->instance.free("test", old);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(instances.first_fault(), nullptr);
    for (unsigned which = 0; which < 2; ++which) {
        for (std::atomic<void *> &place : handed[which].block) {
            if (void *const p = place.load()) heaps[which]->instance.free("test", p);
        }
        heaps[which]->instance.trim(0);
        EXPECT_EQ(heaps[which]->instance.pages().used_bytes(), 0U);
    }
}

// A thread that holds every lock itself gets direct blocks.
bool is_locked(gr_heap *heap, std::size_t size) {
    void *const p = heap->instance.allocate(size);
    const bool direct = heap->instance.direct().size_of(p) != 0;
    heap->instance.free("test", p);
    return direct;
}

TEST_F(InstancesTest, AnInstanceKnowsEveryRankButTheLists) {
    auto rank = static_cast<unsigned>(platform::Rank::instances);
    for (const platform::Rank known : Instance::kRanks) EXPECT_EQ(static_cast<unsigned>(known), ++rank);
    EXPECT_EQ(++rank, static_cast<unsigned>(platform::Rank::worklist)) << "which is a collector's";
}

TEST_F(InstancesTest, ForkHoldsEveryLockOfEveryHeapAndOfTheirList) {
    std::vector<gr_heap *> heaps;
    for (int i = 0; i < 3; ++i) {
        heaps.push_back(make());
        // A thread that finds the heap's lock free could take what waits in a magazine.
        heaps.back()->instance.free("test", heaps.back()->instance.allocate(64));
    }
    instances.lock_all();
    for (gr_heap *heap : heaps) EXPECT_TRUE(is_locked(heap, 64) && is_locked(heap, kRun));
    EXPECT_EQ(instances.make(kSmallRegion, "gr_heap_free"), nullptr);
    instances.unlock_all();
    for (gr_heap *heap : heaps) EXPECT_FALSE(is_locked(heap, 64) || is_locked(heap, kRun));
    EXPECT_NE(make(kSmallRegion), nullptr);
}

// A thread that frees meanwhile leaves the block to the holder of the lock.
TEST_F(InstancesTest, WhatWasFreedUnderForksLocksIsCollectedAfterwards) {
    gr_heap *const heap = make();
    void *const p = heap->instance.allocate(64);
    instances.lock_all();
    heap->instance.free("test", p);
    EXPECT_GT(count_statistics(heap->instance).remote_bytes, 0U);
    instances.unlock_all();
    EXPECT_EQ(count_statistics(heap->instance).remote_bytes, 0U);
}

// A handler may fork between fork's own handlers, whose work it must leave alone.
TEST_F(InstancesTest, AForkWithinAForkUnlocksNothing) {
    gr_heap *const heap = make();
    instances.lock_all();
    instances.lock_all();
    instances.unlock_all();
    EXPECT_TRUE(is_locked(heap, kRun));
    EXPECT_TRUE(is_locked(heap, 64));
    instances.unlock_all();
    EXPECT_FALSE(is_locked(heap, kRun));
    EXPECT_FALSE(is_locked(heap, 64));
}

TEST_F(InstancesTest, AHandlerThatInterruptedTheAllocatorForksWithoutLocks) {
    gr_heap *const heap = make();
    const platform::Reentry interrupted;
    instances.lock_all();
    std::thread([&] { EXPECT_FALSE(is_locked(heap, 64) || is_locked(heap, kRun)); }).join();
    instances.unlock_all();
    EXPECT_EQ(instances.make(kSmallRegion, "gr_heap_free"), nullptr) << "it could wait for whoever waits for it";
}

// What threads did while fork held the locks is neither lost nor waited for for ever.
TEST_F(InstancesTest, HeapsComeAndGoAndAreUsedBetweenForks) {
    gr_heap *const shared = make();
    std::atomic<bool> stopping{false};
    std::vector<std::future<void>> users;
    for (unsigned t = 0; t < 3; ++t) {
        users.push_back(std::async(std::launch::async, [&, t] {
            std::mt19937 random{t};
            while (!stopping) {
                gr_heap *const own = instances.make(kSmallRegion, "gr_heap_free");
                ASSERT_NE(own, nullptr);
                for (int i = 0; i < 50; ++i) {
                    ASSERT_NE(own->instance.allocate(random() % 40000), nullptr);
                    shared->instance.free("test", shared->instance.allocate(random() % 100000));
                }
                instances.destroy("test", own);
            }
        }));
    }
    for (int i = 0; i < 300; ++i) {
        instances.lock_all();
        instances.unlock_all();
        if (i % 50 == 0) {
            EXPECT_EQ(instances.first_fault(), nullptr);
        }
    }
    stopping = true;
    for (std::future<void> &user : users) user.get();
}

}  // namespace gr::instances_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the programs on which allocators blow up (Hoard 2.2 and 6), on many heaps, against the bound of docs/design/blowup.md.
// Invariant: after every single step, each class's superblocks stay within both forms of the bound, its caches within
//    theirs, and what is retained within the page heap's allowance.
// Must not know: requests in bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "bounded/bound.hpp"
#include "heap/world.hpp"
#include "platform/reentry.hpp"

namespace gr::blowup_test {

using fake::World;

constexpr ClassIndex kClass = class_of(256);
constexpr std::uint32_t kBlocks = shape_of(kClass).blocks;
constexpr std::uint32_t kHeaps = 8;
constexpr std::size_t kRetain = kMiB;
using Held = std::vector<void *>;

// The heap that the thread before the next one was dealt.
std::uint32_t heap_of_a_new_thread(World &world) {
    void *p = nullptr;
    std::thread([&] { p = world.heaps.allocate(ClassIndex(1)); }).join();
    return world.owner_of(p).value;
}
// From the next heap, while all others are free.
void allocate_in_a_new_thread(World &world, std::size_t count) {
    std::thread([&] {
        for (std::size_t i = 0; i < count; ++i) EXPECT_NE(world.heaps.allocate(kClass), nullptr);
    }).join();
}

// A world that is held against the bound at each step.
class Blowup : public testing::Test {
  protected:
    void *allocate(std::uint32_t heap, ClassIndex c) {
        void *const p = world_.allocate_in(heap, c);
        EXPECT_NE(p, nullptr);
        Class &of = classes_[c.value];
        of.live_peak = std::max(of.live_peak, ++of.live);
        check(c);
        return p;
    }
    Held allocate(std::uint32_t heap, ClassIndex c, std::size_t count) {
        Held blocks;
        while (blocks.size() < count && !HasFailure()) blocks.push_back(allocate(heap, c));
        return blocks;
    }
    // Into the owner's magazine.
    void free(void *p) {
        free_by(p, [this](void *q) { world_.free(q); });
    }
    // By a remote bit, like a thread that may not touch the owner's magazine.
    void free_as_stranger(void *p) {
        free_by(p, [this](void *q) {
            const platform::Reentry interrupted;
            world_.free(q);
        });
    }
    // All but every `keep_one_of`-th.
    Held free_most(const Held &blocks, std::size_t keep_one_of) {
        Held kept;
        for (std::size_t i = 0; i < blocks.size() && !HasFailure(); ++i) {
            if (i % keep_one_of == 0) {
                kept.push_back(blocks[i]);
            } else {
                free_as_stranger(blocks[i]);
            }
        }
        return kept;
    }
    void free_all(const Held &blocks) {
        for (void *const p : blocks) free_as_stranger(p);
    }
    std::uint64_t superblocks(ClassIndex c) {
        std::uint64_t sum = world_.global(c).bin.superblocks();
        for (std::uint32_t i = 0; i < kHeaps; ++i) sum += world_.heap(i).bins[c.value].superblocks();
        return sum;
    }
    // The peaks, for a story of its own.
    void forget() { classes_ = {}; }
    std::uint64_t live_peak(ClassIndex c) const { return classes_[c.value].live_peak; }

    // Frees seven of eight blocks of a heap while the global heap's lock is held.
    void cross_the_line(std::uint32_t heap) {
        const Held blocks = allocate(heap, kClass, std::size_t{16} * kBlocks);
        platform::Mutex &global = world_.global(kClass).mutex;
        ASSERT_TRUE(global.try_lock(platform::Rank::global_bin));
        world_.free_seven_of_eight(blocks);
        global.unlock(platform::Rank::global_bin);
    }

    World world_{{.chunks = 128, .retain = kRetain, .stripes = kHeaps}};

  private:
    struct Class {
        std::uint64_t live;
        std::uint64_t live_peak;
        std::uint64_t out_peak;
    };

    template <class Way>
    void free_by(void *p, Way way) {
        const ClassIndex c = class_in(world_.entry(p));
        way(p);
        --classes_[c.value].live;
        check(c);
        ASSERT_LE(world_.pages.retained_bytes(), world_.pages.may_retain());
    }
    void check(ClassIndex c) {
        Class &of = classes_[c.value];
        std::uint64_t free = world_.global(c).bin.free_blocks();
        for (std::uint32_t i = 0; i < kHeaps; ++i) free += world_.heap(i).bins[c.value].free_blocks();
        const std::uint64_t out = superblocks(c) * shape_of(c).blocks - free;
        of.out_peak = std::max(of.out_peak, out);
        ASSERT_LE(out, of.live + kHeaps * test::kept_blocks(c)) << "class " << c.value;
        ASSERT_LE(superblocks(c), test::bound_of_superblocks(c, of.out_peak, kHeaps)) << "class " << c.value;
        ASSERT_LE(superblocks(c) * shape_of(c).bytes(), test::bound_of_bytes(c, of.live_peak, kHeaps));
        if (++checks_ % 256 == 0) {
            ASSERT_TRUE(world_.is_valid());
        }
    }

    std::array<Class, kClassCount> classes_ = {};
    unsigned checks_ = 0;
};

// One allocates, another frees: private heaps grow without end.
TEST_F(Blowup, ProducerAndConsumer) {
    const std::size_t at_once = std::size_t{20} * kBlocks;
    for (unsigned round = 0; round < 20; ++round) free_all(allocate(0, kClass, at_once));
}

// The work wanders from heap to heap, and each leaves a block here and there: heaps that keep what they have need
// as many times the memory as there are heaps.
TEST_F(Blowup, WorkThatWandersFromHeapToHeap) {
    for (const std::size_t keep_one_of : {std::size_t{2}, std::size_t{8}, std::size_t{kBlocks}}) {
        Held kept;
        for (std::uint32_t i = 0; i < kHeaps; ++i) {
            const Held blocks = allocate(i, kClass, std::size_t{40} * kBlocks);
            const Held more = free_most(blocks, keep_one_of);
            kept.insert(kept.end(), more.begin(), more.end());
        }
        free_all(kept);
        world_.heaps.reclaim();
        EXPECT_EQ(world_.pages.used_bytes(), 0U);
        forget();
    }
}

// Each allocates what its neighbour frees, all at once.
TEST_F(Blowup, RoundRobin) {
    std::array<Held, kHeaps> given;
    for (unsigned round = 0; round < 6; ++round) {
        for (std::uint32_t i = 0; i < kHeaps; ++i) given[i] = allocate((i + round) % kHeaps, kClass, 3 * kBlocks + 7);
        for (const Held &blocks : given) free_all(blocks);
    }
}

// Frees of its own blocks by the owner, interleaved so that no superblock empties before the end.
TEST_F(Blowup, OwnersFreeAcrossTheirSuperblocks) {
    for (std::uint32_t i = 0; i < kHeaps; ++i) {
        const Held blocks = allocate(i, kClass, std::size_t{12} * kBlocks);
        for (std::size_t stride = 0; stride + 1 < kBlocks; ++stride) {
            for (std::size_t at = stride; at < blocks.size(); at += kBlocks) free(blocks[at]);
        }
    }
}

// A heap that only ever allocated and went idle: others free, and a third needs the memory.
TEST_F(Blowup, AnIdleHeapsMemoryServesOthers) {
    const Held kept = free_most(allocate(0, kClass, std::size_t{64} * kBlocks), 8);
    EXPECT_LE(world_.heap(0).remote_bytes.load(), kRemoteThreshold);
    const std::uint64_t before = superblocks(kClass);
    const Held more = allocate(1, kClass, std::size_t{40} * kBlocks);
    EXPECT_EQ(superblocks(kClass), before) << "new superblocks, though idle ones are nearly empty";
    free_all(kept);
    free_all(more);
}

// The bound is a sum over classes of peaks, and reached: a block of each superblock stays, and all other memory of its
// class serves no other.
TEST_F(Blowup, SizesThatShiftReachTheSumOfPeaks) {
    constexpr std::size_t kBytes = 2 * kMiB;
    std::uint64_t peaks = 0;
    std::uint64_t live = 0;
    Held kept;
    for (std::uint32_t i = 1; i < kClassCount; ++i) {
        const ClassIndex c(i);
        const Held stay = free_most(allocate(i % kHeaps, c, kBytes / shape_of(c).size), 8);
        kept.insert(kept.end(), stay.begin(), stay.end());
        peaks += live_peak(c) * shape_of(c).size;
        live += stay.size() * shape_of(c).size;
    }
    std::uint64_t superblock_bytes = 0;
    for (std::uint32_t i = 1; i < kClassCount; ++i)
        superblock_bytes += superblocks(ClassIndex(i)) * shape_of(ClassIndex(i)).bytes();
    EXPECT_LT(live * 4, peaks);
    EXPECT_GT(superblock_bytes * 4, peaks * 3);
    free_all(kept);
    world_.heaps.reclaim();
    EXPECT_EQ(world_.pages.used_bytes(), 0U);
}

// A heap crosses the line while the global heap's lock is held, and never frees again: whoever needs a superblock of
// the class next finds what it should have given.
TEST_F(Blowup, WhatAHeldLockLeftUndoneIsDoneBeforeMemoryGrows) {
    const std::uint32_t idle = heap_of_a_new_thread(world_);
    cross_the_line(idle);
    ASSERT_FALSE(world_.heap(idle).bins[kClass.value].keeps_hoards_invariant(kClass));
    const std::size_t used = world_.pages.used_bytes();
    allocate_in_a_new_thread(world_, 1);
    EXPECT_EQ(world_.pages.used_bytes(), used) << "memory grew";
    EXPECT_TRUE(world_.is_valid());
}

// As before while that heap is busy: the heap is skipped, and not forgotten.
TEST_F(Blowup, AHeapThatIsBusyIsAskedAgain) {
    const std::uint32_t busy = heap_of_a_new_thread(world_);
    cross_the_line(busy);
    const std::size_t used = world_.pages.used_bytes();
    world_.allocate_in((busy + 1) % kHeaps, kClass);
    const std::size_t grown = world_.pages.used_bytes();
    EXPECT_EQ(grown, used + shape_of(kClass).bytes());
    allocate_in_a_new_thread(world_, 2 * kBlocks);
    EXPECT_EQ(world_.pages.used_bytes(), grown) << "memory grew";
    EXPECT_TRUE(world_.is_valid());
}

// Messages that meet a heap which no longer has their blocks are passed on as remote bits, inside a drain, where no
// thread is settled: that heap is drained before memory grows.
TEST_F(Blowup, WhatADrainPassedOnIsCollectedBeforeMemoryGrows) {
    const std::uint32_t idle = heap_of_a_new_thread(world_);
    const std::uint32_t reader = (idle + 2) % kHeaps;
    const Held blocks = allocate(idle, kClass, 2 * kRemoteThreshold / shape_of(kClass).size);
    std::vector<Message> messages(blocks.size() / Message::kBlocks);
    ASSERT_GT(messages.size() * Message::kBlocks * shape_of(kClass).size, kRemoteThreshold);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        Message &message = messages[i];
        message.begin(owner_of_heap(reader), blocks[i * Message::kBlocks]);
        for (std::uint32_t at = 1; at < Message::kBlocks; ++at) message.write(at, blocks[i * Message::kBlocks + at]);
        message.close(Message::kBlocks);
        world_.heap(reader).inbox.push(&message);
    }
    world_.allocate_in(reader, ClassIndex(2));
    ASSERT_GT(world_.heap(idle).remote_bytes.load(), kRemoteThreshold);
    allocate_in_a_new_thread(world_, 1);
    EXPECT_EQ(world_.heap(idle).remote_bytes.load(), 0U);
    EXPECT_TRUE(world_.is_valid());
}

// When memory is used up a heap's fullest superblocks go to another's class: what stays must not be the emptiest ones.
TEST(BlowupInNeed, TakingFromAHeapLeavesItsInvariant) {
    World world({.chunks = 2});
    const std::uint32_t giver = heap_of_a_new_thread(world);
    Held blocks;
    while (void *const p = world.allocate_in(giver, kClass)) blocks.push_back(p);
    const std::size_t superblocks = blocks.size() / kBlocks;
    // All but one block of the first fifth, one block of the others: within the line, as long as these stay.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const bool one_stays = i / kBlocks < superblocks / 5;
        if (one_stays == (i % kBlocks != 0)) world.free(blocks[i]);
    }
    world.heaps.reclaim();
    ASSERT_TRUE(world.is_valid());
    allocate_in_a_new_thread(world, superblocks / 2);
    EXPECT_TRUE(world.is_valid());
}

}  // namespace gr::blowup_test

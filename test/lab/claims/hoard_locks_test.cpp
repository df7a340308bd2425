// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Hoard's bounds on synchronisation (000, 4.2): how often heap 0's lock is taken while a heap grows, stays and
//    shrinks; and table 3: the superblocks that heap 0 gives while blocks in them are in use.
// Invariant: locks are counted, in the counted build, and printed; nothing is timed.
// Must not know: how superblocks move.
#include "allocators/hoard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "platform/events.hpp"

namespace gr::lab::hoard_locks_test {

static_assert(kCounted, "in the preset `counted` only");

constinit Chosen allocator{};

constexpr std::size_t kSize = 64;            // s
constexpr std::size_t kOperations = 20'000;  // k
constexpr std::size_t kEmptyParts = 4;       // f = 1 / kEmptyParts

struct OfHeap0 {
    std::uint64_t locks;
    std::uint64_t shared;  // superblocks given with blocks in use
};

template <class Work>
OfHeap0 count_heap_0(Work work) {
    const auto read = [](platform::Event event) { return platform::counted(event); };
    const std::uint64_t before = read(platform::Event::global_lock);
    const std::uint64_t shared_before = read(platform::Event::shared_superblock);
    work();
    const std::uint64_t locks = read(platform::Event::global_lock) - before;
    const std::uint64_t shared = read(platform::Event::shared_superblock) - shared_before;
    std::printf("heap 0: %llu locks, %llu superblocks given with blocks in use\n",
                static_cast<unsigned long long>(locks), static_cast<unsigned long long>(shared));
    return {locks, shared};
}
template <class Work>
std::uint64_t global_locks(Work work) {
    return count_heap_0(work).locks;
}
std::vector<void *> allocate(std::size_t count) {
    std::vector<void *> blocks(count);
    for (void *&block : blocks) block = allocator.allocate(kSize);
    return blocks;
}
void free_all(const std::vector<void *> &blocks) {
    for (void *const block : blocks) allocator.free(block);
}
std::size_t blocks_of_superblock() {
    void *const block = allocator.allocate(kSize);
    const std::size_t blocks = allocator.heaps().container_bytes() / allocator.usable_size(block);
    allocator.free(block);
    return blocks - sizeof(Container) / kSize;
}

// At most k / (f * S / s) times, though heap 0 has nothing but superblocks that are f empty.
TEST(HoardLocks, GrowthTakesHeapZerosLockOnceForAnEmptyFraction) {
    const std::size_t bound = kOperations * kEmptyParts / blocks_of_superblock() + 1;
    std::vector<void *> blocks;
    EXPECT_LE(global_locks([&] { blocks = allocate(kOperations); }), bound);

    std::vector<void *> freed;
    std::vector<void *> kept;
    for (std::size_t i = 0; i < blocks.size(); ++i) (i % 3 == 0 ? freed : kept).push_back(blocks[i]);
    free_all(freed);
    std::vector<void *> again;
    EXPECT_LE(global_locks([&] { again = allocate(kOperations); }), bound);
    free_all(again);
    free_all(kept);
}

// What is in use varies within the empty fraction, and all frees are local.
TEST(HoardLocks, ASteadyStateTakesNone) {
    std::vector<void *> blocks = allocate(kOperations);
    const std::size_t varying = kOperations / 5;
    EXPECT_EQ(global_locks([&] {
                  for (int round = 0; round < 20; ++round) {
                      for (std::size_t i = 0; i < varying; ++i) allocator.free(blocks[i]);
                      for (std::size_t i = 0; i < varying; ++i) blocks[i] = allocator.allocate(kSize);
                  }
              }),
              0U);
    free_all(blocks);
}

// The first free that crosses the threshold, and from then on every free of a block whose superblock was moved: here
// each superblock is freed up to the threshold first, then one block at a time.
TEST(HoardLocks, APathologicalShrinkTakesOneForEachFreeAtMost) {
    const std::size_t per_superblock = blocks_of_superblock();
    const std::vector<void *> blocks = allocate(kOperations);
    std::vector<void *> first;
    std::vector<void *> then;
    const std::size_t left = per_superblock / kEmptyParts;
    for (std::size_t i = 0; i < blocks.size(); ++i) (i % per_superblock < left ? first : then).push_back(blocks[i]);
    free_all(first);
    const std::uint64_t locks = global_locks([&] { free_all(then); });
    EXPECT_LE(locks, then.size() + then.size() / per_superblock + 1);
    EXPECT_GT(locks, then.size() / 4);
}

// Table 3 has zeros throughout. Here every second superblock is freed whole, and of the others two to seven eighths: so
// heap 0 has superblocks of each fullness, and its order decides.
TEST(HoardLocks, HeapZeroGivesNoSuperblockInUseWhileItHasEmptyOnes) {
    const std::vector<void *> blocks = allocate(kOperations);
    const auto number_of = [](const void *block) {
        return reinterpret_cast<std::uintptr_t>(block) / allocator.heaps().container_bytes();
    };
    const std::size_t first = number_of(*std::min_element(blocks.begin(), blocks.end()));
    std::vector<void *> freed;
    std::vector<void *> kept;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::size_t number = number_of(blocks[i]) - first;
        (number % 2 == 0 || i % 8 < 2 + number / 2 % 6 ? freed : kept).push_back(blocks[i]);
    }
    free_all(freed);
    std::vector<void *> again;
    const OfHeap0 counts = count_heap_0([&] { again = allocate(kOperations / 6); });
    EXPECT_GT(counts.locks, 0U) << "the heap had enough";
    EXPECT_EQ(counts.shared, 0U);
    free_all(again);
    free_all(kept);
}

}  // namespace gr::lab::hoard_locks_test

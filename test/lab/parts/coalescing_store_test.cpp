// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: coalescing heaps and the global heap behind them: what is taken and put at random, what moves and when, and
//    that memory is bounded.
// Invariant: blocks lie apart, and all bytes of all regions are somewhere.
// Must not know: threads.
#include "parts/stores/coalescing_store.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "lab/parts/free_blocks.hpp"

namespace gr::lab::coalescing_store_test {

template <Features kF>
struct Sum {
    static constexpr Features kFeatures = kF;
};
constexpr Features kCoalescing = thread_heaps + coalescing;
using Sums =
    testing::Types<Sum<kCoalescing>, Sum<kCoalescing + global_remote_list>, Sum<kCoalescing + ownership>,
                   Sum<kCoalescing + ownership + global_remote_list>, Sum<kCoalescing + best_fit + no_global_heap>,
                   Sum<kCoalescing + best_fit + ownership + no_global_heap>,
                   Sum<single_heap + coalescing + best_fit + search_tree>>;

template <class S>
class CoalescingStoreTest : public testing::Test {
  protected:
    static constexpr bool kIsOwned = S::kFeatures.have(ownership);
    static constexpr bool kHasGlobalHeap = S::kFeatures.have_global_heap();
    using Store = CoalescingStore<S::kFeatures>;
    static_assert(BlockStore<Store>);
    static constexpr HeapNumber kHeaps = 3;  // numbered from 1

    void *allocate(HeapNumber heap, std::size_t size) {
        Store &store = stores[heap];
        void *block = store.take(size);
        if (block == nullptr && store.grow(size, *global, heap)) block = store.take(size);
        EXPECT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kAlignment, 0U);
        if (kIsOwned) {
            EXPECT_EQ(Store::heap_of(block), heap);
        }
        EXPECT_GE(Store::usable_size(Store::hand_out(block)), size);
        regions.insert(reinterpret_cast<std::uintptr_t>(block) / Store::kRegionBytes);
        return block;
    }
    // Into the owner's heap, or where there is no owner into the given one.
    void free(void *block, HeapNumber heap) {
        Store::take_back(Store::block_of(block));
        Store &store = stores[kIsOwned ? Store::heap_of(block) : heap];
        store.put(block, *global);
    }
    std::size_t bytes_in_stores() const {
        std::size_t bytes = 0;
        for (const Store &store : stores) bytes += store.free_bytes();
        return bytes;
    }
    void expect_valid() const {
        for (const std::uintptr_t region : regions)
            expect_coalesced<Store>(reinterpret_cast<const char *>(region * Store::kRegionBytes));
    }
    // Takes all of it out.
    std::size_t bytes_in_global() {
        std::size_t bytes = 0;
        while (void *const block = global->take(Store::kLeastBytes)) bytes += Store::bytes_of(block);
        return bytes;
    }

    std::unique_ptr<typename Store::Global> global = std::make_unique<typename Store::Global>();
    Store stores[kHeaps + 1];
    std::set<std::uintptr_t> regions;
};
TYPED_TEST_SUITE(CoalescingStoreTest, Sums);

TYPED_TEST(CoalescingStoreTest, BlocksLieApartAndNoByteIsLost) {
    using Tested = typename TestFixture::Store;
    struct Held {
        char *block;
        std::size_t size;
        char mark;
    };
    std::vector<Held> held;
    std::size_t held_bytes = 0;
    std::mt19937 random(12);
    const auto any_heap = [&] { return static_cast<HeapNumber>(1 + random() % this->kHeaps); };
    const auto free_one = [&] {
        std::swap(held[random() % held.size()], held.back());
        const Held h = held.back();
        held.pop_back();
        for (std::size_t at = 0; at < h.size; ++at) ASSERT_EQ(h.block[at], h.mark);
        held_bytes -= Tested::bytes_of(h.block);
        this->free(h.block, any_heap());
    };
    for (int i = 0; i < 24000; ++i) {
        const bool fills = i / 3000 % 2 == 0;
        if (random() % 4 < (fills ? 3 : 1) || held.empty()) {
            const std::size_t size = random() % (std::size_t{32} << random() % 12) % (Tested::largest() + 1);
            auto *const block = static_cast<char *>(this->allocate(any_heap(), size));
            ASSERT_NE(block, nullptr);
            const char mark = static_cast<char>(random());
            const std::size_t usable = Tested::usable_size(block);
            std::memset(block, mark, usable);
            held.push_back({block, usable, mark});
            held_bytes += Tested::bytes_of(block);
        } else {
            free_one();
        }
        if (this->HasFatalFailure()) return;
        ASSERT_LE(held_bytes + this->bytes_in_stores(), this->regions.size() * Tested::kWholeBytes);
        if (i % 512 == 0) this->expect_valid();
        if (this->HasFatalFailure()) return;
    }
    while (!held.empty()) free_one();
    this->expect_valid();
    EXPECT_EQ(this->bytes_in_stores() + this->bytes_in_global(), this->regions.size() * Tested::kWholeBytes);
    if (this->kIsOwned && this->kHasGlobalHeap) {
        EXPECT_EQ(this->bytes_in_stores(), 0U);
    }
}

TYPED_TEST(CoalescingStoreTest, AWholeRegionMovesAndIsUsedAgain) {
    using Tested = typename TestFixture::Store;
    void *const block = this->allocate(1, Tested::kWholeBytes - Tested::kTagsBytes);
    EXPECT_EQ(this->regions.size(), 1U);
    this->free(block, 1);
    EXPECT_EQ(this->stores[1].free_bytes(), this->kHasGlobalHeap ? 0 : Tested::kWholeBytes);
    const HeapNumber other = this->kHasGlobalHeap ? 2 : 1;
    EXPECT_EQ(this->allocate(other, 100), block);
    this->free(block, other);
    EXPECT_EQ(this->regions.size(), 1U);
}

TYPED_TEST(CoalescingStoreTest, TheLargestAndTheSmallestAreServed) {
    using Tested = typename TestFixture::Store;
    void *const small = this->allocate(1, 0);
    EXPECT_EQ(Tested::bytes_of(small), Tested::kLeastBytes);
    void *const large = this->allocate(1, Tested::largest());
    std::memset(large, 'x', Tested::largest());
    this->free(small, 1);
    this->free(large, 1);
    EXPECT_EQ(this->bytes_in_stores() + this->bytes_in_global(), this->regions.size() * Tested::kWholeBytes);
}

// One heap takes, two free every second block each: without ownership no region is whole in either. What they keep is
// bounded, too.
TYPED_TEST(CoalescingStoreTest, ProducersAndConsumersDoNotBlowUp) {
    using Tested = typename TestFixture::Store;
    // A heap that shares nothing in any way is the only one.
    const bool is_only = !this->kHasGlobalHeap && !this->kIsOwned;
    constexpr std::size_t kBlocks = 2000;
    constexpr std::size_t kSize = 500;
    std::vector<void *> blocks;
    for (int round = 0; round < 150; ++round) {
        for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(this->allocate(1, kSize));
        for (std::size_t i = 0; i < kBlocks; ++i) this->free(blocks[i], is_only ? 1 : 2 + i % 2);
        blocks.clear();
    }
    const std::size_t kept = 2 * 64 * Tested::kRegionBytes;
    EXPECT_LE(this->regions.size() * Tested::kRegionBytes, kept + 4 * kBlocks * kSize);
}

// Without ownership, where a region seldom becomes whole: between any two that are freed one stays in use. Other heaps
// keep what they get.
TYPED_TEST(CoalescingStoreTest, AllBinsKeepLessThanTheyMightEach) {
    using Tested = typename TestFixture::Store;
    if constexpr (!TestFixture::kIsOwned && TestFixture::kHasGlobalHeap) {
        using Bins = typename Tested::Bins;
        constexpr std::size_t kMost = kMostOfHeap * Tested::kWholeBytes;
        std::vector<void *> freed;
        std::size_t freed_bytes = 0;
        for (unsigned bin = Bins::bin_of(Tested::kLeastBytes); bin + 1 < Bins::kCount; ++bin) {
            const std::size_t count = kMostOfBin * Tested::kWholeBytes / Bins::size_of(bin);
            std::set<void *> blocks;
            while (blocks.size() < 2 * count) blocks.insert(this->allocate(1, Bins::size_of(bin) - Tested::kTagsBytes));
            bool stays = true;
            for (void *const block : blocks) {
                stays = !stays;
                if (stays) continue;
                freed.push_back(block);
                freed_bytes += Tested::bytes_of(block);
            }
        }
        ASSERT_GT(freed_bytes, kMost) << "too little to tell";
        for (void *const block : freed) {
            this->free(block, 2);
            ASSERT_LE(this->stores[2].free_bytes(), kMost);
        }
    }
}

template <class Store>
void expect_the_best_fit_from_any_region() {
    static constinit typename Store::Global global;
    static constinit Store store;
    std::vector<void *> blocks;
    for (int i = 0; i < 40; ++i) {
        for (const std::size_t size : {40000UL + 16 * static_cast<std::size_t>(i), 64UL}) {
            void *block = store.take(size);
            if (block == nullptr && store.grow(size, global, 1)) block = store.take(size);
            ASSERT_NE(block, nullptr);
            blocks.push_back(block);
        }
    }
    for (std::size_t i = 0; i < blocks.size(); i += 2) store.put(blocks[i], global);
    for (const std::size_t i : {7UL, 39UL, 0UL, 20UL}) EXPECT_EQ(store.take(40000 + 16 * i), blocks[2 * i]);
}

TEST(CoalescingStoreFitTest, TheBestFitIsTakenFromAnyRegion) {
    expect_the_best_fit_from_any_region<CoalescingStore<kCoalescing + best_fit + no_global_heap>>();
    expect_the_best_fit_from_any_region<CoalescingStore<single_heap + coalescing + best_fit + search_tree>>();
}

}  // namespace gr::lab::coalescing_store_test

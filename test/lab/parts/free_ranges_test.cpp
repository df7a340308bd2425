// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: three heaps that split and join blocks of the same regions, against a reference that knows every interval.
// Invariant: blocks lie apart; neighbours that are free in one heap are one block; no byte is lost; regions stay apart.
// Must not know: the global heap.
#include "parts/layout/free_ranges.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "base/config.hpp"
#include "lab/parts/free_blocks.hpp"
#include "parts/layout/range_bins.hpp"
#include "parts/layout/size_tree.hpp"

namespace gr::lab::free_ranges_test {

template <FreeIndex Index, Fit kF>
struct Kind {
    using Tags = BoundaryTags<64 * kKiB, typename Index::Node>;
    using Ranges = FreeRanges<Tags, Index>;
    static constexpr Fit kFit = kF;
};
template <Fit kFit, unsigned kTenths>
using BinKind = Kind<RangeBins<GeometricBins<BoundaryTags<64 * kKiB>::kWholeBytes, kTenths>, kFit>, kFit>;
using Kinds = testing::Types<BinKind<Fit::first_of_bin, 12>, BinKind<Fit::best, 11>, Kind<SizeTree, Fit::best>>;

template <class K>
class FreeRangesTest : public testing::Test {
  protected:
    using Tags = typename K::Tags;
    static constexpr HeapNumber kHeaps = 3;
    static constexpr std::size_t kRegions = 4;

    struct Range {
        std::size_t bytes;
        HeapNumber heap;
    };
    using Intervals = std::map<char *, Range>;

    FreeRangesTest() {
        std::memset(memory.get(), 0, kRegions * Tags::kRegionBytes);
        for (std::size_t r = 0; r < kRegions; ++r) {
            char *const block = static_cast<char *>(Tags::make_whole(memory.get() + r * Tags::kRegionBytes));
            put(block, Tags::kWholeBytes, static_cast<HeapNumber>(r % kHeaps));
        }
    }
    void put(char *block, std::size_t bytes, HeapNumber heap) {
        heaps[heap].put(block, heap);
        auto it = free.emplace(block, Range{bytes, heap}).first;
        const auto next = std::next(it);
        if (next != free.end() && next->first == block + bytes && next->second.heap == heap) {
            it->second.bytes += next->second.bytes;
            free.erase(next);
        }
        if (it == free.begin()) return;
        const auto before = std::prev(it);
        if (before->first + before->second.bytes != block || before->second.heap != heap) return;
        before->second.bytes += it->second.bytes;
        free.erase(it);
    }
    // Of a block that a heap gave: a free range of its own, from its begin.
    void take(char *block, HeapNumber heap) {
        const std::size_t bytes = Tags::bytes_of(block);
        const auto range = free.find(block);
        ASSERT_TRUE(range != free.end() && range->second.heap == heap && range->second.bytes >= bytes);
        const std::size_t rest = range->second.bytes - bytes;
        free.erase(range);
        if (rest != 0) free[block + bytes] = {rest, heap};
        const auto mark = static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(block) >> 4);
        std::memset(block, mark, bytes - Tags::kTagsBytes);
        held[block] = {bytes, mark};
    }
    void give_back(typename Intervals::iterator it, HeapNumber heap) {
        const auto [block, is] = *it;
        for (std::size_t at = 0; at < is.bytes - Tags::kTagsBytes; ++at)
            ASSERT_EQ(static_cast<unsigned char>(block[at]), is.heap);
        ASSERT_EQ(Tags::bytes_of(block), is.bytes);
        held.erase(it);
        put(block, is.bytes, heap);
    }
    std::size_t largest_of(HeapNumber heap) const {
        std::size_t largest = 0;
        for (const auto &[block, is] : free)
            if (is.heap == heap) largest = std::max(largest, is.bytes);
        return largest;
    }
    // The blocks in memory are the reference's, and each heap counts its own.
    void expect_same() const {
        std::size_t bytes[kHeaps] = {};
        std::size_t sum = 0;
        for (const auto &[block, is] : free) {
            ASSERT_EQ(Tags::bytes_of(block), is.bytes);
            ASSERT_EQ(Tags::heap_of(block), is.heap);
            ASSERT_EQ(tag_of(block).state, BlockState::free);
            bytes[is.heap] += is.bytes;
        }
        for (HeapNumber heap = 0; heap < kHeaps; ++heap) {
            ASSERT_EQ(heaps[heap].ranges().bytes(), bytes[heap]);
            sum += bytes[heap];
        }
        for (const auto &[block, is] : held) sum += is.bytes;
        ASSERT_EQ(sum, kRegions * Tags::kWholeBytes);
        for (std::size_t r = 0; r < kRegions; ++r) expect_coalesced<Tags>(memory.get() + r * Tags::kRegionBytes);
    }

    struct Free {
        void operator()(char *p) const { std::free(p); }
    };
    std::unique_ptr<char, Free> memory{
        static_cast<char *>(std::aligned_alloc(Tags::kRegionBytes, kRegions *Tags::kRegionBytes))};
    typename K::Ranges heaps[kHeaps];
    Intervals free;
    Intervals held;  // with the mark that fills it for a heap
};
TYPED_TEST_SUITE(FreeRangesTest, Kinds);

TYPED_TEST(FreeRangesTest, TakesAndPutsAsTheReference) {
    using Blocks = typename TypeParam::Tags;
    std::mt19937 random(31);
    std::size_t refused = 0;
    for (int i = 0; i < 40000; ++i) {
        const auto heap = static_cast<HeapNumber>(random() % this->kHeaps);
        // Fuller and emptier by turns.
        const bool fills = i / 2000 % 2 == 0;
        if (random() % 4 < (fills ? 3 : 1) || this->held.empty()) {
            const std::size_t most = std::size_t{32} << random() % 12;
            const std::size_t wanted = std::min(Blocks::bytes_for(random() % most), Blocks::kWholeBytes);
            const std::size_t largest = this->largest_of(heap);
            auto *const block = static_cast<char *>(this->heaps[heap].take(wanted));
            ASSERT_EQ(block != nullptr, largest >= wanted);
            if (block == nullptr) {
                ++refused;
                continue;
            }
            ASSERT_GE(Blocks::bytes_of(block), wanted);
            ASSERT_LT(Blocks::bytes_of(block), wanted + Blocks::kLeastBytes);
            if (TypeParam::kFit == Fit::best) {
                const std::size_t had = this->free.at(block).bytes;
                for (const auto &[other, is] : this->free)
                    ASSERT_FALSE(is.heap == heap && is.bytes >= wanted && is.bytes < had);
            }
            this->take(block, heap);
        } else {
            this->give_back(std::next(this->held.begin(), static_cast<long>(random() % this->held.size())), heap);
        }
        if (this->HasFatalFailure()) return;
        if (i % 16 == 0) this->expect_same();
        if (this->HasFatalFailure()) return;
    }
    EXPECT_GT(refused, 0U);
    while (!this->held.empty()) this->give_back(this->held.begin(), 0);
    this->expect_same();
}

TYPED_TEST(FreeRangesTest, WhatOneHeapGetsBackIsWholeAgain) {
    using Blocks = typename TypeParam::Tags;
    std::mt19937 random(8);
    for (HeapNumber heap = 0; heap < this->kHeaps; ++heap)
        while (auto *const block = static_cast<char *>(this->heaps[heap].take(Blocks::bytes_for(random() % 3000))))
            this->take(block, heap);
    for (HeapNumber heap = 0; heap < this->kHeaps; ++heap)
        while (void *const rest = this->heaps[heap].take_unsplit(Blocks::kLeastBytes))
            this->take(static_cast<char *>(rest), heap);
    ASSERT_FALSE(this->HasFailure());
    EXPECT_TRUE(this->free.empty());
    while (!this->held.empty())
        this->give_back(std::next(this->held.begin(), static_cast<long>(random() % this->held.size())), 1);
    EXPECT_EQ(this->free.size(), this->kRegions);
    this->expect_same();
    for (std::size_t r = 0; r < this->kRegions; ++r)
        EXPECT_EQ(Blocks::bytes_of(this->heaps[1].take_unsplit(Blocks::kWholeBytes)), Blocks::kWholeBytes);
    EXPECT_EQ(this->heaps[1].ranges().bytes(), 0U);
}

}  // namespace gr::lab::free_ranges_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much of what is free a heap keeps from the others, in one bin and in all (Wasik 5.2).
// Invariant: told by addresses: a thread that allocates as much afterwards in another heap gets new memory for what the
//    first keeps.
// Must not know: what a heap keeps free blocks in.
#include "lab/teams.hpp"

namespace gr::lab::bounds_test {

struct Pile {
    std::size_t count;
    std::size_t size;
};

template <class A>
std::vector<void *> allocate(Team<A> &team, std::size_t member, const std::vector<Pile> &piles) {
    std::vector<void *> blocks;
    for (const Pile &pile : piles) {
        const std::vector<void *> more = team.allocate(member, pile.count, pile.size);
        blocks.insert(blocks.end(), more.begin(), more.end());
    }
    return blocks;
}

template <class A>
std::size_t bytes_of(const std::vector<void *> &blocks, const std::set<void *> &left_out = {}) {
    std::size_t bytes = 0;
    for (void *const block : blocks)
        if (left_out.count(block) == 0) bytes += BlocksOf<A>::usable_size(block);
    return bytes;
}

// One thread allocates the piles and frees them, another allocates as much; no thread did before.
template <class A>
void expect_to_keep_at_most(std::size_t bound, const std::vector<Pile> &piles, A &allocator) {
    Team<A> team(2, allocator);
    const std::vector<void *> first = allocate(team, 0, piles);
    EXPECT_GT(bytes_of<A>(first), bound) << "too little to tell";
    team.free(0, first);
    EXPECT_LE(bytes_of<A>(allocate(team, 1, piles), {first.begin(), first.end()}), bound);
}

// Far more than one bin may keep, and far less than all. What is not used up of a container is new, too.
template <class A>
void expect_one_bin_to_be_bounded() {
    static constinit A allocator{};
    constexpr std::size_t kSize = 200;
    const std::size_t most = kMostOfBin * BlocksOf<A>::largest();
    expect_to_keep_at_most(most + kUnitBytes, {{10 * most / kSize, kSize}}, allocator);
}

// In each bin as much as it may keep.
template <class A>
void expect_all_bins_to_be_bounded() {
    static constinit A allocator{};
    using Blocks = BlocksOf<A>;
    std::vector<Pile> piles;
    for (unsigned bin = 0; bin < Blocks::kBins; ++bin) {
        const std::size_t size = Blocks::size_of(bin);
        piles.push_back({kMostOfBin * Blocks::largest() / size, size - kTagBytes});
    }
    expect_to_keep_at_most(kMostOfHeap * Blocks::largest(), piles, allocator);
}

template <class A>
class BoundsTest : public testing::Test {};
// Lists of objects and of containers, and each with a list of what the global heap was given.
using Kept = testing::Types<Threads, InR, Containers, Owned, Remote>;
TYPED_TEST_SUITE(BoundsTest, Kept);

TYPED_TEST(BoundsTest, OneBinKeepsTwiceTheLargestBlock) { expect_one_bin_to_be_bounded<TypeParam>(); }
TYPED_TEST(BoundsTest, AllBinsKeepLessThanTheyMightEach) { expect_all_bins_to_be_bounded<TypeParam>(); }

}  // namespace gr::lab::bounds_test

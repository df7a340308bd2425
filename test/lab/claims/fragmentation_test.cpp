// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what sizes and headers cost (jemalloc, Algorithms and Experiments): powers of two with a page's bitmap
//    (phkmalloc), multiples of 16 with a run's (jemalloc), and fine sizes with a header for each block (single).
// Invariant: blocks of the sizes that the paper tells of its programs, each as often as the others, in random order.
//    Memory is the pages in which a block begins, counted by address; no time, no RSS.
// Must not know: how blocks are found.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <random>

#include "allocators/jemalloc2006.hpp"
#include "lab/teams.hpp"
#include "parts/paged_allocator.hpp"

namespace gr::lab::fragmentation_test {

using Jemalloc = Chosen;
using Phkmalloc = PagedAllocator;

constexpr std::size_t kEach = 2000;

// Over the bytes that were asked for.
struct Cost {
    double blocks;  // internal fragmentation
    double memory;  // headers, bitmaps and ends of pages, too
};

template <class A>
Cost cost_of(const char *name, const std::vector<std::size_t> &sizes) {
    std::vector<std::size_t> wanted;
    while (wanted.size() < kEach * 4) wanted.insert(wanted.end(), sizes.begin(), sizes.end());
    std::shuffle(wanted.begin(), wanted.end(), std::mt19937(3));
    std::vector<void *> blocks;
    std::size_t usable = 0;
    for (const std::size_t size : wanted) {
        blocks.push_back(the_allocator<A>.allocate(size));
        usable += the_allocator<A>.usable_size(blocks.back());
    }
    const auto asked = static_cast<double>(std::accumulate(wanted.begin(), wanted.end(), std::size_t{0}));
    const auto pages = static_cast<double>(parts_of(blocks, kRunPageBytes).size() * kRunPageBytes);
    for (void *const block : blocks) the_allocator<A>.free(block);
    const Cost cost{static_cast<double>(usable) / asked, pages / asked};
    std::printf("%-12s blocks %.3f, memory %.3f of what is asked for\n", name, cost.blocks, cost.memory);
    return cost;
}

struct Costs {
    Cost phkmalloc;
    Cost jemalloc;
    Cost single;
};
Costs costs_of(const char *program, const std::vector<std::size_t> &sizes) {
    std::printf("%s:\n", program);
    return {cost_of<Phkmalloc>("phkmalloc", sizes), cost_of<Jemalloc>("jemalloc", sizes),
            cost_of<Single>("single", sizes)};
}

TEST(Fragmentation, SmlngsSizes) {
    const Costs costs = costs_of("smlng", {16, 48, 96, 288});
    EXPECT_EQ(costs.jemalloc.blocks, 1);
}

TEST(Fragmentation, CfracsSizes) {
    const Costs costs = costs_of("cfrac", {16, 32});
    EXPECT_EQ(costs.jemalloc.blocks, 1);
}

TEST(Fragmentation, Sh6benchsSizes) {
    std::vector<std::size_t> sizes(1000);
    std::iota(sizes.begin(), sizes.end(), 1);
    const Costs costs = costs_of("sh6bench", sizes);
    EXPECT_LT(costs.jemalloc.blocks, 2);
}

TEST(Fragmentation, GsSizes) {
    const Costs costs = costs_of("gs", {240});
    EXPECT_LT(costs.jemalloc.blocks, 2);
}

}  // namespace gr::lab::fragmentation_test

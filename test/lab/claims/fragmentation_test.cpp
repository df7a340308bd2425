// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what sizes and headers cost (jemalloc, Algorithms and Experiments): powers of two with a page's bitmap
//    (phkmalloc), multiples of 16 with a run's (jemalloc), and fine sizes with a header for each block (single).
// Invariant: blocks of the sizes that the paper tells of its programs, in random order. Memory is the pages in which a
//    block begins, counted by address; no time, no RSS.
// Must not know: how blocks are found.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <random>

#include "allocators/jemalloc2006.hpp"
#include "lab/teams.hpp"
#include "parts/phkmalloc/paged_allocator.hpp"

namespace gr::lab::fragmentation_test {

using Jemalloc = Chosen;

// Of each program, every block that it has once.
struct Smlng {
    static std::vector<std::size_t> sizes() { return {16, 48, 96, 288}; }
};
struct Cfrac {
    static std::vector<std::size_t> sizes() { return {16, 32}; }
};
struct Gs {
    static std::vector<std::size_t> sizes() { return {240}; }
};
// "The number of objects in each group is larger for small objects": here as many bytes of each size.
struct Sh6bench {
    static std::vector<std::size_t> sizes() {
        constexpr std::size_t kLargest = 1000;
        std::vector<std::size_t> sizes;
        for (std::size_t size = 1; size <= kLargest; ++size) sizes.insert(sizes.end(), kLargest / size, size);
        return sizes;
    }
};

constexpr std::size_t kLeastBlocks = 8000;

// Over the bytes that were asked for.
struct Cost {
    double blocks;  // internal fragmentation
    double memory;  // headers, bitmaps and ends of pages, too
};

// Each in an allocator of its own, so that nothing was free before.
template <class A, class Program>
Cost cost_of(const char *name) {
    static constinit A allocator;
    const std::vector<std::size_t> sizes = Program::sizes();
    std::vector<std::size_t> wanted;
    while (wanted.size() < kLeastBlocks) wanted.insert(wanted.end(), sizes.begin(), sizes.end());
    std::shuffle(wanted.begin(), wanted.end(), std::mt19937(3));
    std::vector<void *> blocks;
    std::size_t usable = 0;
    for (const std::size_t size : wanted) {
        blocks.push_back(allocator.allocate(size));
        usable += allocator.usable_size(blocks.back());
    }
    const auto asked = static_cast<double>(std::accumulate(wanted.begin(), wanted.end(), std::size_t{0}));
    const auto pages = static_cast<double>(parts_of(blocks, kRunPageBytes).size() * kRunPageBytes);
    const Cost cost{static_cast<double>(usable) / asked, pages / asked};
    std::printf("%-9s  blocks %.3f, memory %.3f of what is asked for\n", name, cost.blocks, cost.memory);
    return cost;
}

struct Costs {
    Cost phkmalloc;
    Cost jemalloc;
    Cost single;
};
template <class Program>
Costs costs_of(const char *program) {
    std::printf("%s:\n", program);
    return {cost_of<PagedAllocator, Program>("phkmalloc"), cost_of<Jemalloc, Program>("jemalloc"),
            cost_of<Single, Program>("single")};
}

// Bits and infos, and the end of a page or a run.
constexpr double kOfBitmaps = 1.03;

// The paper: 0.70 of phkmalloc's memory, "because the predominantly used size classes are not all powers of two".
TEST(Fragmentation, MultiplesOfTheQuantumSaveWhatPowersOfTwoWaste) {
    const Costs costs = costs_of<Smlng>("smlng");
    EXPECT_DOUBLE_EQ(costs.phkmalloc.blocks, (16.0 + 64 + 128 + 512) / (16 + 48 + 96 + 288));
    EXPECT_EQ(costs.jemalloc.blocks, 1);
    EXPECT_LT(costs.jemalloc.memory, 0.70 * costs.phkmalloc.memory);
    const Costs of_one_size = costs_of<Gs>("gs");
    EXPECT_DOUBLE_EQ(of_one_size.phkmalloc.blocks, 256.0 / 240);
    EXPECT_EQ(of_one_size.jemalloc.blocks, 1);
}

// The paper: as much memory as phkmalloc.
TEST(Fragmentation, BitmapsCostLittleWhereAHeaderCostsMoreThanHalf) {
    const Costs costs = costs_of<Cfrac>("cfrac");
    EXPECT_EQ(costs.phkmalloc.blocks, 1);
    EXPECT_EQ(costs.jemalloc.blocks, 1);
    EXPECT_LT(costs.phkmalloc.memory, kOfBitmaps);
    EXPECT_LT(costs.jemalloc.memory, kOfBitmaps);
    EXPECT_GT(costs.single.memory, 1.5);
}

// The paper: 0.70 of phkmalloc's memory. Above the last multiple of the quantum both have the same powers of two.
TEST(Fragmentation, SizesAloneDoNotExplainSh6bench) {
    const Costs costs = costs_of<Sh6bench>("sh6bench");
    EXPECT_GT(costs.jemalloc.memory, 0.80 * costs.phkmalloc.memory);
    EXPECT_LT(costs.jemalloc.memory, 0.95 * costs.phkmalloc.memory);
    EXPECT_LT(costs.single.memory, costs.jemalloc.memory);
}

}  // namespace gr::lab::fragmentation_test

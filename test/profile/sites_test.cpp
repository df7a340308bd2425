// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sums by stack, and those of the peak against a copy of all at each new peak.
// Invariant: the order of what happens is the same each time.
// Must not know: what a stack is.
#include "profile/sites.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace gr::sites_test {

constexpr std::uint32_t kSites = 7;

TEST(Sites, PeakIsWhatWasLiveThen) {
    Sites sites;
    ASSERT_TRUE(sites.initialise());
    struct Block {
        std::uint32_t site;
        Estimate estimate;
    };
    std::vector<Block> live;
    std::array<std::uint64_t, kSites> now{};
    std::array<std::uint64_t, kSites> at_peak{};
    std::uint64_t sum = 0;
    std::uint64_t most = 0;
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < 20000; ++i) {
        const bool grows = i / 1000 % 3 != 2;
        if (live.empty() || random() % 8 < (grows ? 5 : 3)) {
            const std::uint32_t site = 1 + static_cast<std::uint32_t>(random() % (kSites - 1));
            const Estimate estimate{kOneBlock, 1 + random() % 1000};
            ASSERT_EQ(sites.at(site, site * 100), site);
            sites.allocated(site, estimate, i);
            live.push_back({site, estimate});
            now[site] += estimate.bytes;
            sum += estimate.bytes;
            if (sum > most) {
                most = sum;
                at_peak = now;
            }
        } else {
            std::swap(live[random() % live.size()], live.back());
            sites.freed(live.back().site, live.back().estimate);
            now[live.back().site] -= live.back().estimate.bytes;
            sum -= live.back().estimate.bytes;
            live.pop_back();
        }
        if (i % 97 != 0) continue;
        for (std::uint32_t s = 1; s < kSites; ++s) {
            ASSERT_EQ(sites.site(s).live.bytes, now[s]);
            ASSERT_EQ(sites.at_peak(sites.site(s)).bytes, at_peak[s]) << i;
        }
        ASSERT_EQ(sites.totals().peak.bytes, most);
        ASSERT_EQ(sites.totals().live.blocks, live.size() * kOneBlock);
    }
    EXPECT_EQ(sites.totals().count, kSites);
    EXPECT_EQ(sites.changes_cell()->load() % 2, 0U);
}

TEST(Sites, WhatHasNoRoomIsWithoutAStack) {
    Sites sites;
    ASSERT_TRUE(sites.initialise());
    EXPECT_EQ(sites.at(kMostSites, 5), 0U);
    EXPECT_EQ(sites.at(kMostSites - 1, 5), kMostSites - 1);
    sites.allocated(0, {kOneBlock, 10}, 1);
    EXPECT_EQ(sites.site(0).live.bytes, 10U);
    EXPECT_EQ(sites.totals().count, kMostSites);
}

TEST(Sites, ResetLeavesTheStacksOnly) {
    Sites sites;
    ASSERT_TRUE(sites.initialise());
    for (unsigned round = 0; round < 3; ++round) {
        ASSERT_EQ(sites.at(3, 300), 3U);
        sites.allocated(3, {kOneBlock, 10}, 1);
        sites.freed(3, {kOneBlock, 10});
        sites.allocated(2, {kOneBlock, 4}, 2);
        EXPECT_EQ(sites.at_peak(sites.site(3)).bytes, 10U);
        EXPECT_EQ(sites.at_peak(sites.site(2)).bytes, 0U);
        sites.reset();
        EXPECT_EQ(sites.totals().count, 4U);
        EXPECT_EQ(sites.site(3).stack, 300U);
        for (std::uint32_t s = 0; s < 4; ++s) {
            EXPECT_EQ(sites.site(s).allocated.bytes + sites.site(s).live.bytes, 0U);
            EXPECT_EQ(sites.at_peak(sites.site(s)).bytes, 0U);
        }
        EXPECT_EQ(sites.totals().peak.bytes + sites.totals().live.bytes + sites.totals().allocated.bytes, 0U);
        EXPECT_EQ(sites.totals().peaks + sites.totals().peak_time, 0U);
        EXPECT_EQ(sites.changes_cell()->load() % 2, 0U);
    }
}

}  // namespace gr::sites_test

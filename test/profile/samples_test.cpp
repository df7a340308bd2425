// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table of sampled blocks: by one thread, by several, full, and what is put aside.
// Invariant: no address in it is looked at.
// Must not know: what a sample is counted as.
#include "profile/samples.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace gr::samples_test {

void *address(std::uint64_t n) { return reinterpret_cast<void *>(0x10000 + n * 16); }

TEST(Samples, AreFoundUntilTheyAreTaken) {
    Samples samples;
    ASSERT_TRUE(samples.initialise());
    std::unordered_map<std::uint64_t, Sample> live;
    std::mt19937_64 random(1);
    for (unsigned i = 0; i < 300000; ++i) {
        const std::uint64_t n = random() % 50000;
        Sample found;
        ASSERT_EQ(samples.take(address(n), &found), live.contains(n));
        if (const auto at = live.find(n); at != live.end()) {
            ASSERT_EQ(found.size, at->second.size);
            ASSERT_EQ(found.site, at->second.site);
            ASSERT_EQ(found.generation, at->second.generation);
            live.erase(at);
        } else {
            const Sample sample{random(), static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
            ASSERT_TRUE(samples.insert(address(n), sample));
            live.emplace(n, sample);
        }
    }
}

TEST(Samples, WhereThereIsNoRoomItSaysSo) {
    Samples samples;
    ASSERT_TRUE(samples.initialise());
    std::vector<std::uint64_t> in;
    for (std::uint64_t n = 0; n < kMostSamples * 2; ++n) {
        if (samples.insert(address(n), {n, 1, 1})) in.push_back(n);
    }
    EXPECT_GT(in.size(), kMostSamples / 2);
    EXPECT_LT(in.size(), kMostSamples * 2);
    Sample found;
    for (const std::uint64_t n : in) {
        ASSERT_TRUE(samples.take(address(n), &found));
        ASSERT_EQ(found.size, n);
    }
    EXPECT_TRUE(samples.insert(address(1), {1, 1, 1}));
}

TEST(Samples, WhatIsPutAsideIsCountedOnce) {
    Samples samples;
    ASSERT_TRUE(samples.initialise());
    for (std::uint64_t n = 0; n < 10; ++n) ASSERT_TRUE(samples.insert(address(n), {n, 1, 1}));
    EXPECT_FALSE(samples.any_aside());
    for (std::uint64_t n = 0; n < 5; ++n) EXPECT_TRUE(samples.put_aside(address(n)));
    EXPECT_FALSE(samples.put_aside(address(0)));
    EXPECT_TRUE(samples.any_aside());
    Sample found;
    EXPECT_FALSE(samples.take(address(3), &found));
    EXPECT_TRUE(samples.insert(address(3), {33, 1, 1}));  // the block has another owner already
    std::uint64_t sum = 0;
    samples.take_aside([&](const Sample &s) { sum += s.size; });
    EXPECT_EQ(sum, 0U + 1 + 2 + 3 + 4);
    samples.take_aside([&](const Sample &s) { sum += s.size; });
    EXPECT_EQ(sum, 10U);
    EXPECT_TRUE(samples.take(address(3), &found));
    EXPECT_EQ(found.size, 33U);
    EXPECT_TRUE(samples.take(address(9), &found));
}

TEST(Samples, OfSeveralThreadsOneGetsEach) {
    constexpr unsigned kThreads = 4;
    constexpr std::uint64_t kBlocks = 20000;
    Samples samples;
    ASSERT_TRUE(samples.initialise());
    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> inserted{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t n = t; n < kBlocks; n += kThreads)
                inserted += samples.insert(address(n), {n, t, 1}) ? 1 : 0;
            Sample found;
            for (std::uint64_t n = 0; n < kBlocks; ++n) taken += samples.take(address(n), &found) ? 1 : 0;
        });
    }
    for (std::thread &thread : threads) thread.join();
    Sample found;
    for (std::uint64_t n = 0; n < kBlocks; ++n) taken += samples.take(address(n), &found) ? 1 : 0;
    EXPECT_EQ(inserted.load(), kBlocks);
    EXPECT_EQ(taken.load(), kBlocks);
}

TEST(Samples, ClearEndsAllButThoseAside) {
    Samples samples;
    ASSERT_TRUE(samples.initialise());
    for (std::uint64_t n = 0; n < 1000; ++n) ASSERT_TRUE(samples.insert(address(n), {n, 1, 1}));
    for (std::uint64_t n = 0; n < 10; ++n) ASSERT_TRUE(samples.put_aside(address(n)));
    samples.clear();
    Sample found;
    for (std::uint64_t n = 0; n < 1000; ++n) ASSERT_FALSE(samples.take(address(n), &found));
    std::uint64_t sum = 0;
    samples.take_aside([&](const Sample &s) { sum += s.size; });
    EXPECT_EQ(sum, 45U);
    EXPECT_TRUE(samples.insert(address(3), {7, 1, 2}));
    EXPECT_TRUE(samples.take(address(3), &found));
    EXPECT_EQ(found.generation, 2U);
}

}  // namespace gr::samples_test

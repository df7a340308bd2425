// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the policy on huge pages: what the kernel is asked for, and when.
// Invariant: no clock is waited for.
// Must not know: superblocks; how full a chunk is.
#include "region/huge_pages.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fake/clock.hpp"
#include "fake/region.hpp"

namespace gr::huge_pages_test {

using platform::HugePagesFor;

TEST(HugePageMaker, IsWhatPolicyAndSystemSay) {
    const auto automatic = [](HugePagesFor whom) { return huge_page_maker(HugePolicy::automatic, whom); };
    EXPECT_EQ(automatic(HugePagesFor::nobody), HugePageMaker::nobody);
    EXPECT_EQ(automatic(HugePagesFor::who_asks), HugePageMaker::us);
    EXPECT_EQ(automatic(HugePagesFor::everybody), HugePageMaker::kernel_later);
    for (HugePagesFor whom : {HugePagesFor::nobody, HugePagesFor::who_asks, HugePagesFor::everybody}) {
        EXPECT_EQ(huge_page_maker(HugePolicy::never, whom), HugePageMaker::forbidden);
        EXPECT_EQ(huge_page_maker(HugePolicy::always, whom), HugePageMaker::kernel);
    }
}

class HugePagesOf : public testing::TestWithParam<HugePageMaker> {
  protected:
    static constexpr std::uint32_t kChunks = 10;

    HugePagesOf() {
        fake::reset();
        EXPECT_TRUE(fake::reserve(region_, kChunks));
        huge_.initialise(states_.data(), region_, GetParam());
    }
    // One visit of all chunks, of which these are dense, but never the last; those that were made huge.
    std::set<std::uint32_t> visit(const std::set<std::uint32_t> &dense) {
        const std::size_t before = fake::collapsed().size();
        std::uint32_t next = 0;
        for (std::uint32_t begin = kChunks; next != begin && next != kChunks;) {
            begin = next;
            huge_.make_one(kChunks, [&](ChunkIndex c) {
                next = c.value + 1;
                return dense.contains(c.value);
            });
        }
        std::set<std::uint32_t> made;
        for (std::size_t i = before; i < fake::collapsed().size(); ++i) {
            const fake::Range &range = fake::collapsed()[i];
            EXPECT_EQ(range.bytes, kChunkBytes);
            made.insert(region_.chunk_of(region_.unit_of(range.begin)).value);
        }
        return made;
    }

    Region region_;
    std::vector<char> states_ = std::vector<char>(kChunks * HugePages::kBytesPerChunk);
    HugePages huge_;
};

class HugePagesOfUs : public HugePagesOf {};
INSTANTIATE_TEST_SUITE_P(Us, HugePagesOfUs, testing::Values(HugePageMaker::us));

TEST_P(HugePagesOfUs, AreMadeOfWhatIsDenseTwice) {
    EXPECT_EQ(visit({1, 2, 5}), (std::set<std::uint32_t>{}));
    EXPECT_FALSE(huge_.may_be_huge(ChunkIndex(1)));
    EXPECT_EQ(visit({1, 5, 7}), (std::set<std::uint32_t>{1, 5})) << "2 was dense only once, and so was 7";
    EXPECT_TRUE(huge_.may_be_huge(ChunkIndex(1)));
    EXPECT_EQ(visit({1, 2, 5, 7}), (std::set<std::uint32_t>{7})) << "1 and 5 are huge, 2 is dense once more";
}

TEST_P(HugePagesOfUs, ReleasedUnitsBeginAnew) {
    visit({3});
    huge_.was_released(ChunkIndex(3));
    EXPECT_EQ(visit({3}), (std::set<std::uint32_t>{}));
    EXPECT_EQ(visit({3}), (std::set<std::uint32_t>{3}));
    huge_.was_released(ChunkIndex(3));
    EXPECT_TRUE(huge_.may_be_huge(ChunkIndex(3))) << "an empty unit of it is as resident as before";
    huge_.was_split(ChunkIndex(3));
    EXPECT_FALSE(huge_.may_be_huge(ChunkIndex(3)));
    EXPECT_EQ(visit({3}), (std::set<std::uint32_t>{}));
    EXPECT_EQ(visit({3}), (std::set<std::uint32_t>{3})) << "dense again, huge again";
}

TEST_P(HugePagesOfUs, WhatTheKernelCannotDoNowIsTriedAgain) {
    fake::fail(fake::Call::collapse, 0, 1);
    visit({4});
    EXPECT_EQ(visit({4}), (std::set<std::uint32_t>{}));
    EXPECT_EQ(fake::calls(fake::Call::collapse), 1U);
    EXPECT_EQ(visit({4}), (std::set<std::uint32_t>{})) << "not at once";
    EXPECT_EQ(visit({4}), (std::set<std::uint32_t>{4}));
}

TEST_P(HugePagesOfUs, WhatItNeverCanIsAskedForOnce) {
    fake::fail(fake::Call::collapse, 0);
    fake::fail_collapse_with(platform::Collapse::impossible);
    EXPECT_TRUE(huge_.may_make(kHugeHeapBytes));
    for (int i = 0; i < 4; ++i) visit({0, 4});
    EXPECT_EQ(fake::calls(fake::Call::collapse), 1U);
    EXPECT_FALSE(huge_.may_make(SIZE_MAX));
}

TEST_P(HugePagesOfUs, TakeOnePartOfTheTime) {
    constexpr std::uint64_t kTaken = 2 * kHugeRoundNanoseconds / kHugeTimeParts;
    bool first = true;
    const std::uint64_t began = platform::nanoseconds();
    huge_.make_one(kChunks, [&first](ChunkIndex) {
        if (first) fake::pass_time(kTaken);
        first = false;
        return false;
    });
    EXPECT_EQ(huge_.not_before(), began + kTaken + kTaken * kHugeTimeParts);
}

// A call of the program's waits meanwhile.
TEST_P(HugePagesOfUs, TakeLessTimeWhereEachTakesLong) {
    constexpr std::uint64_t kTaken = kHugePatienceNanoseconds + 1;
    visit({0, 1, 2});
    fake::delay_collapse(std::chrono::nanoseconds(kTaken));
    const auto pause_after_one = [this] {
        const std::uint64_t began = platform::nanoseconds();
        huge_.make_one(kChunks, [](ChunkIndex c) { return c.value <= 2; });
        return huge_.not_before() - began;
    };
    EXPECT_GE(pause_after_one(), kTaken * kHugeTimeParts * 2);
    EXPECT_GE(pause_after_one(), kTaken * kHugeTimeParts * 4);
    EXPECT_GE(pause_after_one(), kTaken * kHugeTimeParts * 8);
    EXPECT_EQ(fake::collapsed().size(), 3U);
}

TEST_P(HugePagesOfUs, AreLookedForOnceARound) {
    visit({});
    const std::uint64_t second = huge_.not_before();
    visit({});
    EXPECT_GE(huge_.not_before(), second + kHugeRoundNanoseconds);
}

TEST_P(HugePagesOfUs, AHelperMakesAFewATickAndAllInTurn) {
    const auto tick = [this] {
        const std::size_t before = fake::collapsed().size();
        huge_.make_some(kChunks, [](ChunkIndex) { return true; });
        return fake::collapsed().size() - before;
    };
    EXPECT_EQ(tick(), 0U) << "dense for the first time";
    EXPECT_EQ(tick(), kHugePagesPerTick);
    EXPECT_EQ(tick(), kHugePagesPerTick);
    EXPECT_EQ(tick(), kChunks - 2 * kHugePagesPerTick);
    EXPECT_EQ(tick(), 0U);
}

TEST_P(HugePagesOfUs, WhereAHelperMakesThemNobodyElseIsDue) {
    constexpr std::uint64_t kTwoTicks = std::uint64_t{2 * kTickMilliseconds} * 1'000'000;
    EXPECT_TRUE(huge_.is_due(kHugeHeapBytes));
    const std::uint64_t before = platform::nanoseconds();
    huge_.make_some(kChunks, [](ChunkIndex) { return false; });
    EXPECT_GE(huge_.not_before(), before + kTwoTicks);
    EXPECT_LE(huge_.not_before(), platform::nanoseconds() + kTwoTicks) << "a helper that is gone would be waited for";
}

TEST_P(HugePagesOfUs, AreMadeInForksChildToo) {
    huge_.make_one(1, [this](ChunkIndex) {
        EXPECT_FALSE(huge_.is_due(kHugeHeapBytes));
        huge_.forget_visitor();
        EXPECT_TRUE(huge_.is_due(kHugeHeapBytes)) << "a child would wait for a thread it does not have";
        return false;
    });
    const std::uint64_t next = huge_.not_before();
    huge_.forget_visitor();
    EXPECT_EQ(huge_.not_before(), next) << "nobody was at it";
}

TEST_P(HugePagesOfUs, ComeWithALargeHeap) {
    EXPECT_FALSE(huge_.may_make(kHugeHeapBytes - 1));
    EXPECT_TRUE(huge_.may_make(kHugeHeapBytes));
    EXPECT_TRUE(fake::allowed().empty()) << "the kernel shall not make any by itself";
}

class HugePagesOfOthers : public HugePagesOf {};
INSTANTIATE_TEST_SUITE_P(Others, HugePagesOfOthers,
                         testing::Values(HugePageMaker::nobody, HugePageMaker::forbidden, HugePageMaker::kernel,
                                         HugePageMaker::kernel_later));

TEST_P(HugePagesOfOthers, AreNotMadeByUs) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(visit({0, 1, 2, 3}), (std::set<std::uint32_t>{}));
    EXPECT_EQ(fake::calls(fake::Call::collapse), 0U);
    EXPECT_FALSE(huge_.may_make(SIZE_MAX)) << "nothing is left to do";
}

TEST_P(HugePagesOfOthers, AreToldOfAllChunksInOne) {
    const HugePageMaker maker = GetParam();
    std::vector<bool> expected;
    if (maker == HugePageMaker::forbidden || maker == HugePageMaker::kernel_later) expected.push_back(false);
    if (maker == HugePageMaker::kernel) expected.push_back(true);
    const auto told = [] {
        std::vector<bool> all;
        for (const fake::Allowed &call : fake::allowed()) all.push_back(call.allowed);
        return all;
    };
    EXPECT_EQ(told(), expected);
    EXPECT_EQ(huge_.may_make(kHugeHeapBytes), maker == HugePageMaker::kernel_later);
    EXPECT_EQ(huge_.may_be_huge(ChunkIndex(1)), maker == HugePageMaker::kernel);
    for (int i = 0; i < 2; ++i) visit({});
    if (maker == HugePageMaker::kernel_later) expected.push_back(true);
    EXPECT_EQ(told(), expected) << "once the heap is large";
    EXPECT_EQ(huge_.may_be_huge(ChunkIndex(1)), expected == std::vector<bool>({true}) || expected.size() == 2);
    for (const fake::Allowed &call : fake::allowed()) {
        EXPECT_EQ(call.begin, region_.address(region_.first_unit()));
        EXPECT_EQ(call.bytes, region_.chunk_limit() * kChunkBytes);
    }
}

}  // namespace gr::huge_pages_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page heap against a model that remembers every run and its bytes: overlap, alignment, zeroes, giving back.
// Invariant: every live run is filled with its own byte and checked; is_valid() after every step.
// Must not know: what runs are for.
#include "region/page_heap.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "fake/clock.hpp"
#include "fake/memory.hpp"
#include "fake/region.hpp"

namespace gr::page_heap_test {

using fake::Call;

constexpr std::uint32_t kChunks = 24;
constexpr std::size_t kRetain = 2 * kMiB;

class PageHeapTest : public testing::Test {
  protected:
    void SetUp() override {
        fake::reset();
        ASSERT_TRUE(take_region());
        pages_.initialise(region_.fixed_table(), kRetain);
    }
    virtual bool take_region() { return fake::reserve(region_, kChunks); }
    void TearDown() override {
        EXPECT_TRUE(pages_.is_valid());
        EXPECT_EQ(pages_.used_bytes(), live_units() * kUnitBytes);
    }

    bool allocate(std::uint32_t count, std::uint32_t alignment = 1, Prefer prefer = Prefer::warm, Near near = {}) {
        gr::Run run;
        if (!pages_.allocate(UnitCount(count), UnitCount(alignment), prefer, &run, near)) return false;
        EXPECT_EQ(run.count.value, count);
        EXPECT_EQ(run.first.value % alignment, region_.first_unit().value % alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region_.address(run.first)) % (alignment * kUnitBytes), 0U);
        EXPECT_FALSE(overlaps(run)) << "handed out twice";
        if (run.zeroed) {
            EXPECT_TRUE(has_byte(run.first, count, 0)) << "said to be zero";
        }
        last_ = run.first.value;
        live_[last_] = {count, ++next_byte_};
        fill(run.first.value);
        return true;
    }
    void release(std::uint32_t first) {
        const Piece piece = live_.at(first);
        EXPECT_TRUE(has_byte(UnitIndex(first), piece.count, piece.byte)) << "somebody else wrote to it";
        live_.erase(first);
        ASSERT_TRUE(pages_.release(UnitIndex(first), UnitCount(piece.count)));
    }
    std::size_t live_units() const {
        std::size_t units = 0;
        for (const auto &[first, piece] : live_) units += piece.count;
        return units;
    }
    std::uint32_t any() {
        return std::next(live_.begin(), static_cast<std::ptrdiff_t>(random_() % live_.size()))->first;
    }

    std::size_t left_out(std::uint32_t first, std::uint32_t count) const {
        return fake::left_out_of_core_files(region_.address(UnitIndex(first)), count * kUnitBytes);
    }
    // One byte at each end of every page suffices to tell.
    void fill(std::uint32_t first) {
        char *const p = region_.address(UnitIndex(first));
        for (std::size_t i = 0; i < live_[first].count * kUnitBytes; i += 2048)
            p[i] = static_cast<char>(live_[first].byte | 1);
    }
    bool has_byte(UnitIndex first, std::uint32_t count, unsigned byte) {
        const char *const p = region_.address(first);
        for (std::size_t i = 0; i < count * kUnitBytes; i += 2048) {
            if (p[i] != (byte == 0 ? 0 : static_cast<char>(byte | 1))) return false;
        }
        return true;
    }

    struct Piece {
        std::uint32_t count;
        unsigned byte;
    };
    bool overlaps(const gr::Run &run) const {
        const auto after = live_.lower_bound(run.first.value);
        if (after != live_.end() && after->first < run.first.value + run.count.value) return true;
        return after != live_.begin() && std::prev(after)->first + std::prev(after)->second.count > run.first.value;
    }

    Region region_;
    PageHeap pages_{region_};
    std::map<std::uint32_t, Piece> live_;
    std::uint32_t last_ = 0;
    unsigned next_byte_ = 0;
    std::mt19937 random_{7};

    void history(unsigned steps, unsigned failing_purges_in_ten) {
        for (unsigned i = 0; i < steps; ++i) {
            if (random_() % 10 < failing_purges_in_ten) fake::fail(Call::purge, i % 3, 1);
            const bool full = live_units() > kChunks * kUnitsPerChunk * 3 / 4;
            if (live_.empty() || (!full && random_() % 100 < 52)) {
                const auto count =
                    static_cast<std::uint32_t>(random_() % 8 == 0 ? 1 + random_() % 90 : 1 + random_() % 8);
                allocate(count, 1U << (random_() % 6), random_() % 4 == 0 ? Prefer::cold : Prefer::warm);
            } else if (random_() % 16 == 0) {
                extend(any());
            } else {
                release(any());
                if (failing_purges_in_ten == 0) {
                    ASSERT_LE(pages_.retained_bytes(), pages_.may_retain());
                }
            }
            ASSERT_TRUE(pages_.is_valid()) << "step " << i;
            ASSERT_EQ(pages_.used_bytes(), live_units() * kUnitBytes);
            for (const auto &[first, piece] : live_)
                ASSERT_EQ(left_out(first, piece.count), 0U) << "a used unit is in no core file";
        }
    }
    void extend(std::uint32_t first) {
        const std::uint32_t count = live_[first].count;
        const auto more = static_cast<std::uint32_t>(1 + random_() % 20);
        if (!pages_.extend(UnitIndex(first), UnitCount(count), UnitCount(count + more))) return;
        EXPECT_FALSE(overlaps(gr::Run{UnitIndex(first + count), UnitCount(more)})) << "extended over a neighbour";
        live_[first].count += more;
        fill(first);
    }
};

TEST_F(PageHeapTest, AgreesWithTheModel) { history(4000, 0); }

TEST_F(PageHeapTest, AgreesWithTheModelWhenPurgesFail) {
    history(2500, 5);
    EXPECT_GT(fake::calls(Call::purge), fake::purged().size()) << "no purge failed: nothing was tested";
}

TEST_F(PageHeapTest, TakesTheLowestAddress) {
    for (std::uint32_t i = 0; i < 3 * kUnitsPerChunk; ++i) {
        ASSERT_TRUE(allocate(1));
        ASSERT_EQ(last_, region_.first_unit().value + i);
    }
    const std::uint32_t hole = region_.first_unit().value + 5;
    release(region_.first_unit().value + 70);
    release(hole);
    ASSERT_TRUE(allocate(1));
    EXPECT_EQ(last_, hole);
}

// Large holes stay for large runs, in whatever chunk they lie and in whatever order they came.
TEST_F(PageHeapTest, TakesTheTightestOfTheWarmHoles) {
    constexpr std::uint32_t kHoles[] = {8, 3, 5, 11, 4};
    std::map<std::uint32_t, std::uint32_t> holes;
    for (const std::uint32_t hole : kHoles) {
        ASSERT_TRUE(allocate(hole));
        holes[hole] = last_;
        ASSERT_TRUE(allocate(kUnitsPerChunk - hole));
    }
    for (const auto &[count, first] : holes) release(first);
    const std::pair<std::uint32_t, std::uint32_t> expected[] = {
        {4, holes[4]}, {4, holes[5]}, {3, holes[3]}, {10, holes[11]}, {1, holes[11] + 10}};
    for (const auto &[count, first] : expected) {
        ASSERT_TRUE(allocate(count));
        EXPECT_EQ(last_, first) << count << " units";
    }
}

TEST_F(PageHeapTest, PrefersWarmUnitsOfTheSameChunk) {
    ASSERT_TRUE(allocate(4));
    ASSERT_TRUE(allocate(2));
    const std::uint32_t warm = last_;
    ASSERT_TRUE(allocate(4));
    release(region_.first_unit().value);
    ASSERT_GT(pages_.trim(0), 0U);
    release(warm);
    ASSERT_TRUE(allocate(1));
    EXPECT_EQ(last_, warm);
}

// Which units these are, a heap says; here it is the test.
TEST_F(PageHeapTest, RecentUnitsComeFirstIfTheyAreWarmAndLongEnough) {
    std::uint32_t firsts[6];
    for (std::uint32_t &first : firsts) {
        ASSERT_TRUE(allocate(2));
        first = last_;
        ASSERT_TRUE(allocate(2));
    }
    for (const std::uint32_t i : {0U, 1U, 2U, 4U}) release(firsts[i]);
    RecentUnits recent{};
    for (const std::uint32_t i : {4U, 3U, 2U, 1U}) recent.note(UnitIndex(firsts[i]));
    ASSERT_TRUE(allocate(3, 1, Prefer::warm, {.recent = &recent})) << "none is long enough: these entries are gone";
    EXPECT_GT(last_, firsts[5]);
    for (const std::uint32_t i : {4U, 3U, 2U}) recent.note(UnitIndex(firsts[i]));
    ASSERT_TRUE(allocate(2, 1, Prefer::cold, {.recent = &recent}));
    EXPECT_GT(last_, firsts[5]) << "cold units were preferred";
    ASSERT_TRUE(allocate(2, 1, Prefer::warm, {.recent = &recent}));
    EXPECT_EQ(last_, firsts[2]);
    ASSERT_TRUE(allocate(2, 1, Prefer::warm, {.recent = &recent}));
    EXPECT_EQ(last_, firsts[4]) << "3 is in use";
    ASSERT_TRUE(allocate(2, 1, Prefer::warm, {.recent = &recent}));
    EXPECT_EQ(last_, firsts[0]) << "without entries the tightest";
    ASSERT_TRUE(allocate(2, 1, Prefer::warm, {.recent = &recent}));
    EXPECT_EQ(last_, firsts[1]);
    release(firsts[2]);
    pages_.trim(0);
    recent.note(UnitIndex(firsts[2]));
    recent.note(UnitIndex(region_.first_unit().value + kChunks * kUnitsPerChunk - 1));
    release(firsts[5]);
    ASSERT_TRUE(allocate(2, 1, Prefer::warm, {.recent = &recent}));
    EXPECT_EQ(last_, firsts[5]) << "2 is not warm any more, and the last unit has no neighbour";
}

// A superblock that may stay nearly empty leaves resident units to others that fill them, while there are cold units.
TEST_F(PageHeapTest, WhoPrefersColdUnitsGetsThemWhileThereAreAny) {
    ASSERT_TRUE(allocate(4));
    release(last_);
    while (live_units() < kChunks * kUnitsPerChunk - 4) {
        ASSERT_TRUE(allocate(1, 1, Prefer::cold));
        ASSERT_EQ(pages_.retained_bytes(), 4 * kUnitBytes);
    }
    ASSERT_TRUE(allocate(1, 1, Prefer::cold));
    EXPECT_EQ(pages_.retained_bytes(), 3 * kUnitBytes) << "only warm ones were left";
}

TEST_F(PageHeapTest, WhatWasGivenBackIsColdAgain) {
    ASSERT_TRUE(allocate(3 * kUnitsPerChunk));
    const std::uint32_t first = last_;
    release(first);
    pages_.trim(0);
    ASSERT_TRUE(allocate(1, 1, Prefer::cold));
    EXPECT_EQ(last_, first);
}

TEST_F(PageHeapTest, ThePeakIsWhatWasUsedOrRetainedAtMost) {
    ASSERT_TRUE(allocate(3));
    const std::uint32_t first = last_;
    ASSERT_TRUE(allocate(2));
    EXPECT_EQ(pages_.peak_bytes(), 5 * kUnitBytes);
    release(first);
    ASSERT_TRUE(allocate(2));
    EXPECT_EQ(pages_.peak_bytes(), 5 * kUnitBytes) << "they were retained";
    ASSERT_TRUE(allocate(4, 1, Prefer::cold));
    EXPECT_EQ(pages_.peak_bytes(), 9 * kUnitBytes) << "one retained, eight used";
    extend(last_);
    const std::size_t peak = pages_.peak_bytes();
    EXPECT_EQ(peak, pages_.used_bytes() + pages_.retained_bytes());
    while (!live_.empty()) release(any());
    pages_.trim(0);
    EXPECT_EQ(pages_.peak_bytes(), peak) << "giving back does not lower it";
    ASSERT_TRUE(allocate(3));
    EXPECT_EQ(pages_.peak_bytes(), peak) << "below it";
}

TEST_F(PageHeapTest, FillsEveryUnitAndThenRefuses) {
    while (allocate(1)) {
    }
    EXPECT_EQ(live_.size(), kChunks * kUnitsPerChunk);
    EXPECT_FALSE(allocate(1));
    release(any());
    EXPECT_TRUE(allocate(1));
}

TEST_F(PageHeapTest, RunsLargerThanAChunkAndAsLargeAsAll) {
    ASSERT_TRUE(allocate(kUnitsPerChunk + 1));
    ASSERT_TRUE(allocate(3 * kUnitsPerChunk));
    EXPECT_FALSE(allocate(kChunks * kUnitsPerChunk));
    while (!live_.empty()) release(any());
    ASSERT_TRUE(allocate(kChunks * kUnitsPerChunk));
    EXPECT_FALSE(allocate(1));
    EXPECT_FALSE(allocate(kChunks * kUnitsPerChunk + 1));
}

TEST_F(PageHeapTest, WholeHeapIsGivenBackAndReadsAsZeroAgain) {
    ASSERT_TRUE(allocate(kChunks * kUnitsPerChunk));
    release(last_);
    EXPECT_LE(pages_.retained_bytes(), kRetain);
    EXPECT_GT(pages_.purged_bytes(), 0U);
    pages_.trim(0);
    EXPECT_EQ(pages_.retained_bytes(), 0U);
    EXPECT_EQ(pages_.purged_bytes(), kChunks * kChunkBytes);
    gr::Run run;
    ASSERT_TRUE(pages_.allocate(UnitCount(kChunks * kUnitsPerChunk), UnitCount(1), Prefer::warm, &run));
    EXPECT_TRUE(run.zeroed);
    EXPECT_TRUE(has_byte(run.first, run.count.value, 0));
    ASSERT_TRUE(pages_.release(run.first, run.count));
}

// Behind it lie retained units, some that were returned to the OS, and some that were never used.
TEST_F(PageHeapTest, ARunGrowsIntoFreeUnitsOfAnyKind) {
    const std::size_t tables = region_.metadata_bytes();
    pages_.limit().initialise(MemoryLimit::kNone, kChunks * kChunkBytes);
    ASSERT_TRUE(allocate(3));
    const std::uint32_t run = last_;
    ASSERT_TRUE(allocate(2));
    const std::uint32_t warm = last_;
    ASSERT_TRUE(allocate(4));
    release(last_);
    pages_.trim(0);
    release(warm);
    ASSERT_EQ(pages_.retained_bytes(), 2 * kUnitBytes);
    const UnitIndex first(run);
    ASSERT_TRUE(pages_.extend(first, UnitCount(3), UnitCount(kUnitsPerChunk + 5)));
    EXPECT_TRUE(has_byte(first, 3, live_[run].byte)) << "what it held";
    live_[run].count = kUnitsPerChunk + 5;
    fill(run);
    EXPECT_EQ(pages_.retained_bytes(), 0U);
    EXPECT_EQ(pages_.limit().held(), pages_.used_bytes() + region_.metadata_bytes() - tables);
    ASSERT_TRUE(allocate(1));
    EXPECT_EQ(last_, run + kUnitsPerChunk + 5) << "the lowest that is free";
    EXPECT_FALSE(pages_.extend(first, UnitCount(kUnitsPerChunk + 5), UnitCount(kUnitsPerChunk + 6)));
    // The last run ends where the region does.
    while (allocate(1)) {
    }
    const std::uint32_t last = region_.first_unit().value + kChunks * kUnitsPerChunk - 1;
    EXPECT_FALSE(pages_.extend(UnitIndex(last), UnitCount(1), UnitCount(2)));
}

// Neighbouring pieces go back in one call.
TEST_F(PageHeapTest, GivesBackInFewCalls) {
    while (allocate(1)) {
    }
    while (!live_.empty()) release(live_.rbegin()->first);
    pages_.trim(0);
    std::size_t bytes = 0;
    for (const fake::Range &range : fake::purged()) bytes += range.bytes;
    EXPECT_EQ(bytes, pages_.purged_bytes());
    EXPECT_EQ(pages_.purge_calls(), fake::purged().size());
    EXPECT_LE(fake::purged().size(), 2 * kChunks * kChunkBytes / kRetain);
}

TEST_F(PageHeapTest, NeighboursInSeveralChunksGoInOneCall) {
    ASSERT_TRUE(allocate(3 * kUnitsPerChunk));
    release(last_);
    ASSERT_EQ(fake::purged().size(), 1U);
    EXPECT_GE(fake::purged()[0].bytes, 2 * kChunkBytes);
    EXPECT_EQ(pages_.purge_calls(), 1U);
}

TEST_F(PageHeapTest, WhatIsAbsentFromUsedUnitsIsNotInUse) {
    ASSERT_TRUE(allocate(kChunks * kUnitsPerChunk));
    const std::size_t all = pages_.used_bytes();
    EXPECT_EQ(pages_.present_bytes(), all);
    pages_.became_absent(all - kUnitBytes);
    EXPECT_EQ(pages_.present_bytes(), kUnitBytes);
    EXPECT_EQ(pages_.used_bytes(), all);
    pages_.became_present(all - 2 * kUnitBytes);
    EXPECT_EQ(pages_.present_bytes(), all - kUnitBytes);
    pages_.became_present(kUnitBytes);
    release(last_);
}

// Allocates and drops one size again and again: in the end most of it stays.
TEST_F(PageHeapTest, WhatAProgramKeepsTakingAgainStays) {
    const std::size_t at_first = pages_.may_retain();
    const std::size_t pages_at_first = pages_.may_stay();
    constexpr std::size_t kTaken = 3 * kRetain / kUnitBytes;
    std::size_t purged = 0;
    std::size_t last_purged = 0;
    for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < kTaken; ++i) ASSERT_TRUE(allocate(1));
        while (!live_.empty()) release(live_.begin()->first);
        last_purged = pages_.purged_bytes() - purged;
        purged = pages_.purged_bytes();
        ASSERT_TRUE(round != 0 || last_purged > kRetain) << "the test tests nothing";
    }
    EXPECT_EQ(last_purged, 0U);
    EXPECT_GT(pages_.may_retain(), at_first);
    EXPECT_GT(pages_.may_stay(), pages_at_first);
}

// What is earned is lost by and by, not at once.
TEST_F(PageHeapTest, WhatWasEarnedStaysWithinThePeakOfWhatWasInUse) {
    constexpr std::uint32_t kHalf = kChunks / 2 * kUnitsPerChunk;
    for (int round = 0; round < 3; ++round) {
        while (live_units() < kHalf) ASSERT_TRUE(allocate(1));
        while (!live_.empty()) release(live_.begin()->first);
    }
    const std::size_t peak = kHalf * kUnitBytes;
    ASSERT_GT(pages_.allowance().earned(), peak / 2) << "the test tests nothing";
    EXPECT_GT(pages_.retained_bytes(), peak / 2);
    // What stays is taken before anything new is; and what does not fit, gives way.
    while (live_units() < kHalf) ASSERT_TRUE(allocate(1, 1, Prefer::cold));
    const std::size_t tables = region_.metadata_bytes();
    EXPECT_LE(pages_.used_bytes() + pages_.retained_bytes(), peak + (peak + tables) / kPeakSlackParts + kRetain);
}

TEST_F(PageHeapTest, WhatIsHeldOutsideTakesThePlaceOfWhatIsRetained) {
    constexpr std::uint32_t kHalf = kChunks / 2 * kUnitsPerChunk;
    for (int round = 0; round < 3; ++round) {
        while (live_units() < kHalf) ASSERT_TRUE(allocate(1));
        while (!live_.empty()) release(live_.begin()->first);
    }
    const std::size_t before = pages_.retained_bytes();
    ASSERT_GT(before, 4 * kRetain) << "the test tests nothing";
    pages_.limit().took(kHalf * kUnitBytes);
    pages_.retain_what_may_stay();
    EXPECT_LE(pages_.retained_bytes(), before / 2);
    pages_.limit().gave(kHalf * kUnitBytes);
}

TEST_F(PageHeapTest, WhoPrefersColdUnitsGetsWarmOnesWhereNoMoreAreToBeHad) {
    ASSERT_TRUE(allocate(4));
    const std::uint32_t first = last_;
    fake::fail(Call::commit, 0);
    while (allocate(1, 1, Prefer::cold)) {
    }
    release(first);
    ASSERT_EQ(pages_.retained_bytes(), 4 * kUnitBytes);
    EXPECT_TRUE(allocate(1, 1, Prefer::cold));
    EXPECT_EQ(last_, first);
}

// Without end if nothing ever looks at the clock.
TEST_F(PageHeapTest, TimeTakesAwayWhatWasEarnedFromWhoOnlyReleases) {
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(allocate(8 * kUnitsPerChunk));
        release(last_);
    }
    ASSERT_GT(pages_.allowance().earned(), 4 * kRetain);
    ASSERT_GT(pages_.retained_bytes(), 4 * kRetain);
    for (int window = 0; window < 3; ++window) {
        ASSERT_TRUE(allocate(1));
        release(last_);
        fake::pass_time(kReuseWindowNanoseconds);
    }
    EXPECT_LE(pages_.allowance().earned(), kUnitBytes);
    EXPECT_LE(pages_.retained_bytes(), kRetain + kUnitBytes);
}

class PageHeapThatReuses : public PageHeapTest {
  protected:
    static constexpr std::uint32_t kHalf = kChunks / 2 * kUnitsPerChunk;
    void reuse_half() {
        for (int round = 0; round < 3; ++round) {
            while (live_units() < kHalf) ASSERT_TRUE(allocate(1));
            while (!live_.empty()) release(live_.begin()->first);
        }
        ASSERT_GT(pages_.retained_bytes(), kHalf * kUnitBytes / 2) << "the test tests nothing";
    }
};

TEST_F(PageHeapThatReuses, WhatStaysForReuseIsTheKernelsToTake) {
    reuse_half();
    EXPECT_LE(pages_.retained_bytes() - pages_.lazy_bytes(), kRetain + kLazyLeastBytes);
    // The receiver learns nothing of what it holds.
    const std::size_t lazy = pages_.lazy_bytes();
    while (pages_.lazy_bytes() != 0) ASSERT_TRUE(allocate(1));
    EXPECT_GE(live_units(), lazy / kChunkBytes);
    EXPECT_TRUE(pages_.is_valid());
    while (!live_.empty()) release(live_.begin()->first);
    EXPECT_LE(pages_.retained_bytes() - pages_.lazy_bytes(), kRetain + kLazyLeastBytes) << "again";
    pages_.trim(0);
    EXPECT_EQ(pages_.retained_bytes(), 0U);
    EXPECT_EQ(pages_.lazy_bytes(), 0U);
}

TEST_F(PageHeapThatReuses, UnitsBesideUsedOnesAreTheKernelsToTakeToo) {
    for (int round = 0; round < 3; ++round) {
        while (live_units() < kHalf) ASSERT_TRUE(allocate(1));
        std::vector<std::uint32_t> units;
        for (const auto &run : live_) units.push_back(run.first);
        for (const std::uint32_t unit : units) {
            if ((unit - region_.first_unit().value) % kUnitsPerChunk != 0) release(unit);
        }
    }
    ASSERT_GT(pages_.retained_bytes(), kHalf * kUnitBytes / 2) << "the test tests nothing";
    ASSERT_GE(live_units(), kHalf / kUnitsPerChunk);
    EXPECT_LE(pages_.retained_bytes() - pages_.lazy_bytes(), kRetain + kLazyLeastBytes);
    EXPECT_TRUE(pages_.is_valid());
}

// What is in use is not far below its last height, so the program is not done.
TEST_F(PageHeapThatReuses, WhatStaysInTheMidstOfWorkIsNotTheKernelsToTake) {
    reuse_half();
    constexpr std::uint32_t kMost = (kChunks - 1) * kUnitsPerChunk;
    while (live_units() < kMost) ASSERT_TRUE(allocate(1));
    const std::size_t calls = fake::calls(Call::free_lazily);
    while (live_units() > kMost - kMost / (kLazyFallParts + 1) + kMost / 100) release(live_.begin()->first);
    EXPECT_EQ(fake::calls(Call::free_lazily), calls);
    while (live_units() > kMost / 2) release(live_.begin()->first);
    EXPECT_GT(fake::calls(Call::free_lazily), calls) << "the test tests nothing";
}

TEST_F(PageHeapThatReuses, SmallPiecesAreNotTheKernelsToTake) {
    reuse_half();
    while (live_units() < kHalf) ASSERT_TRUE(allocate(1));
    const std::size_t calls = fake::calls(Call::free_lazily);
    std::vector<std::uint32_t> units;
    for (const auto &run : live_) units.push_back(run.first);
    for (const std::uint32_t unit : units) {
        if (unit % kLazyPieceUnits != 0) release(unit);
    }
    ASSERT_GT(pages_.retained_bytes(), kRetain + kLazyLeastBytes) << "the test tests nothing";
    EXPECT_EQ(fake::calls(Call::free_lazily), calls);
}

// The clock of the test stands still, so what was saved up is all that there is.
TEST_F(PageHeapThatReuses, FreeingLazilyHasABudget) {
    constexpr std::size_t kSavedBytes =
        kLazySavedNanoseconds / kLazyTimeParts / kLazyNanosecondsPerKiB * kKiB + kLazyBatchBytes;
    std::size_t calls = 0;
    for (std::size_t bytes = 0; bytes < 2 * kSavedBytes; bytes += kHalf * kUnitBytes / 2) {
        calls = fake::calls(Call::free_lazily);
        reuse_half();
    }
    EXPECT_EQ(fake::calls(Call::free_lazily), calls) << "nothing is left of the budget";
    fake::pass_time(kNanosecondsPerSecond);
    reuse_half();
    EXPECT_GT(fake::calls(Call::free_lazily), calls);
}

TEST_F(PageHeapThatReuses, AKernelThatTakesNothingLazilyIsAskedAgain) {
    fake::fail(Call::free_lazily, 0);
    reuse_half();
    EXPECT_GT(fake::calls(Call::free_lazily), 1U);
    EXPECT_EQ(pages_.lazy_bytes(), 0U);
    fake::fail(Call::free_lazily, fake::kForever);
    fake::pass_time(kNanosecondsPerSecond);  // what was refused cost time, too
    ASSERT_TRUE(allocate(1));
    release(last_);
    EXPECT_GT(pages_.lazy_bytes(), 0U);
}

TEST_F(PageHeapTest, WhatStaysAnywayIsNotTheKernelsToTake) {
    ASSERT_TRUE(allocate(kRetain / kUnitBytes));
    release(last_);
    EXPECT_EQ(pages_.retained_bytes(), kRetain);
    EXPECT_EQ(fake::calls(Call::free_lazily), 0U);
}

// As a server that handles a large request every second.
TEST_F(PageHeapTest, WhatComesBackLateDoesNotStay) {
    for (int round = 0; round < 5; ++round) {
        ASSERT_TRUE(allocate(8 * kUnitsPerChunk));
        release(last_);
        EXPECT_LE(pages_.retained_bytes(), kRetain);
        fake::pass_time(kReuseNanoseconds + 2 * kNanosecondsPerMillisecond);
    }
    EXPECT_EQ(pages_.allowance().earned(), 0U);
}

TEST_F(PageHeapTest, NothingIsEarnedWhereTheOptionSaysSo) {
    Region region;
    PageHeap pages(region);
    ASSERT_TRUE(fake::reserve(region, kChunks));
    pages.initialise(region.fixed_table(), kRetain, HugePageMaker::nobody, 0);
    for (int round = 0; round < 3; ++round) {
        gr::Run run;
        ASSERT_TRUE(pages.allocate(UnitCount(8 * kUnitsPerChunk), UnitCount(1), Prefer::warm, &run));
        ASSERT_TRUE(pages.release(run.first, run.count));
        EXPECT_LE(pages.retained_bytes(), kRetain);
    }
    EXPECT_EQ(pages.allowance().earned(), 0U);
}

// A superblock that was swept leaves absent pages under units that are warm: the request that takes these pays for
// them, too.
TEST_F(PageHeapTest, AbsentPagesOfWarmUnitsAreTakenAgainWithThem) {
    const std::size_t page = platform::page_size();
    constexpr std::uint32_t kAbsent = 10;
    ASSERT_TRUE(allocate(4));
    live_.clear();
    pages_.became_absent(kAbsent * page);
    ASSERT_TRUE(pages_.release(UnitIndex(last_), UnitCount(4), kAbsent));
    ASSERT_TRUE(allocate(2));
    EXPECT_EQ(pages_.allowance().earned(), kAbsent / 2 * page) << "as many as on average";
    ASSERT_TRUE(allocate(2));
    EXPECT_EQ(pages_.allowance().earned(), kAbsent * page);
    // What is given back is not regretted before it is taken again.
    const std::uint32_t last = last_;
    live_.erase(last);
    ASSERT_TRUE(pages_.release(UnitIndex(last), UnitCount(2), kAbsent));
    pages_.trim(0);
    EXPECT_EQ(pages_.allowance().earned(), kAbsent * page);
}

// As large-blocks does with two threads. Without groups about half of the units would go to the other CPU.
TEST_F(PageHeapTest, EachCpuGetsTheUnitsThatItReleased) {
    constexpr std::uint32_t kCpus = 2;
    constexpr std::uint32_t kHeld = 8;
    constexpr int kSteps = 4000;
    constexpr std::uint32_t kCrossParts = 20;
    pages_.set_least_retained(kChunks * kChunkBytes);
    std::map<std::uint32_t, std::uint32_t> users;
    std::vector<std::uint32_t> held[kCpus];
    std::uint32_t taken = 0;
    std::uint32_t crossed = 0;
    for (int i = 0; i < kSteps; ++i) {
        const std::uint32_t cpu = random_() % kCpus;
        std::vector<std::uint32_t> &blocks = held[cpu];
        if (blocks.size() == kHeld) {
            std::swap(blocks[random_() % kHeld], blocks.back());
            release(blocks.back());
            blocks.pop_back();
        }
        const std::uint32_t count = 1U << (random_() % 5);
        ASSERT_TRUE(allocate(count, 1, Prefer::warm, {.group = CpuGroup(cpu)}));
        blocks.push_back(last_);
        for (std::uint32_t u = last_; u < last_ + count; ++u) {
            const auto user = users.try_emplace(u, cpu).first;
            const bool settled = i >= kSteps / 2;
            taken += settled ? 1 : 0;
            crossed += settled && user->second != cpu ? 1 : 0;
            user->second = cpu;
        }
    }
    EXPECT_LT(crossed, taken / kCrossParts);
}

TEST_F(PageHeapTest, AGroupTakesWarmUnitsOfAnotherBeforeColdOnes) {
    ASSERT_TRUE(allocate(4));
    const std::uint32_t first = last_;
    release(first);
    ASSERT_TRUE(allocate(4, 1, Prefer::warm, {.group = CpuGroup(1)}));
    EXPECT_EQ(last_, first);
    EXPECT_EQ(pages_.retained_bytes(), 0U);
}

TEST_F(PageHeapTest, ARunLongerThanAChunkGoesWhereMostIsWarm) {
    constexpr std::uint32_t kLong = kUnitsPerChunk + 8;
    ASSERT_TRUE(allocate(kLong));
    const std::uint32_t cold = last_;
    ASSERT_TRUE(allocate(1));
    ASSERT_TRUE(allocate(kRetain / kUnitBytes));
    const std::uint32_t warm = last_;
    release(cold);
    pages_.trim(0);
    release(warm);
    ASSERT_NE(pages_.retained_bytes(), 0U);
    ASSERT_TRUE(allocate(kLong));
    EXPECT_LE(last_, warm);
    EXPECT_GE(last_ + kLong, warm + kRetain / kUnitBytes);
    EXPECT_EQ(pages_.retained_bytes(), 0U);
}

TEST_F(PageHeapTest, KeepsWhatTrimIsToldToKeep) {
    for (int i = 0; i < 16; ++i) ASSERT_TRUE(allocate(1));
    while (!live_.empty()) release(any());
    const std::size_t given_back = pages_.trim(4 * kUnitBytes);
    EXPECT_EQ(given_back + pages_.retained_bytes(), 16 * kUnitBytes);
    EXPECT_LE(pages_.retained_bytes(), 4 * kUnitBytes);
    EXPECT_EQ(pages_.trim(4 * kUnitBytes), 0U);
}

class PageHeapWithHugePages : public testing::TestWithParam<HugePageMaker> {
  protected:
    void SetUp() override {
        fake::reset();
        ASSERT_TRUE(fake::reserve(region_, kChunks));
        pages_.initialise(region_.fixed_table(), kGiB, GetParam());
        while (!units_.contains(region_.unit_at(ChunkIndex(1)).value + kUnitsPerChunk - 1)) {
            gr::Run run;
            ASSERT_TRUE(pages_.allocate(UnitCount(1), UnitCount(1), Prefer::warm, &run));
            units_.insert(run.first.value);
        }
    }
    void release_first(std::uint32_t chunk, std::uint32_t units) {
        const UnitIndex first = region_.unit_at(ChunkIndex(chunk));
        for (std::uint32_t i = 0; i < units; ++i) ASSERT_TRUE(pages_.release(first + UnitCount(i), UnitCount(1)));
    }
    bool may_be_huge(std::uint32_t chunk) const { return pages_.huge_pages().may_be_huge(ChunkIndex(chunk)); }

    Region region_;
    PageHeap pages_{region_};
    std::set<std::uint32_t> units_;
};

class PageHeapWithHugePagesOfTheKernel : public PageHeapWithHugePages {};
INSTANTIATE_TEST_SUITE_P(Kernel, PageHeapWithHugePagesOfTheKernel, testing::Values(HugePageMaker::kernel));

// Highest addresses go first but for this.
TEST_P(PageHeapWithHugePagesOfTheKernel, AreSplitForLittleOnlyWhenNothingElseIsLeft) {
    constexpr std::uint32_t kMuch = kUnitsPerChunk / kHugeSplitParts;
    release_first(0, kMuch);
    release_first(1, kMuch - 1);
    EXPECT_EQ(pages_.trim((kMuch - 1) * kUnitBytes), kMuch * kUnitBytes);
    EXPECT_FALSE(may_be_huge(0));
    EXPECT_TRUE(may_be_huge(1));
    EXPECT_EQ(pages_.trim(0), (kMuch - 1) * kUnitBytes);
    EXPECT_FALSE(may_be_huge(1));
    EXPECT_TRUE(pages_.is_valid());
}

class PageHeapWithHugePagesOfOurs : public PageHeapWithHugePages {};
INSTANTIATE_TEST_SUITE_P(Us, PageHeapWithHugePagesOfOurs, testing::Values(HugePageMaker::us));

TEST_P(PageHeapWithHugePagesOfOurs, ChunksOfWhichUnitsAreReleasedHaveNotSettled) {
    const auto visit = [this] { pages_.huge_pages().make_one(3, [](ChunkIndex c) { return c.value < 2; }); };
    visit();
    release_first(0, 1);
    visit();
    EXPECT_FALSE(may_be_huge(0));
    EXPECT_TRUE(may_be_huge(1));
}

TEST_F(PageHeapTest, ARefusedPurgeKeepsTheMemoryAndPromisesNoZeroes) {
    ASSERT_TRUE(allocate(8));
    release(last_);
    fake::fail(Call::purge, 0);
    EXPECT_EQ(pages_.trim(0), 0U);
    EXPECT_EQ(pages_.retained_bytes(), 8 * kUnitBytes);
    EXPECT_EQ(pages_.purged_bytes(), 0U);
    gr::Run run;
    ASSERT_TRUE(pages_.allocate(UnitCount(8), UnitCount(1), Prefer::warm, &run));
    EXPECT_FALSE(run.zeroed);
    ASSERT_TRUE(pages_.release(run.first, run.count));
    fake::fail(Call::purge, 0, 0);
    EXPECT_EQ(pages_.trim(0), 8 * kUnitBytes);
}

// Where addresses are scarce.
// Core files.

TEST_F(PageHeapTest, CoreFilesLeaveOutChunksThatHoldNothing) {
    ASSERT_TRUE(allocate(16 * kUnitsPerChunk));
    const std::uint32_t first = last_;
    release(first);
    pages_.trim(0);
    EXPECT_EQ(left_out(first, 16 * kUnitsPerChunk), 16 * kChunkBytes);
}

TEST_F(PageHeapTest, CoreFilesContainWhatIsUsedAgain) {
    ASSERT_TRUE(allocate(16 * kUnitsPerChunk));
    const std::uint32_t first = last_;
    release(first);
    pages_.trim(0);
    ASSERT_TRUE(allocate(1));
    EXPECT_EQ(left_out(last_, 1), 0U);
    EXPECT_EQ(left_out(first, 16 * kUnitsPerChunk), (16 - kLeastLeftOut) * kChunkBytes);
    ASSERT_TRUE(allocate(10 * kUnitsPerChunk));
    EXPECT_EQ(left_out(last_, 10 * kUnitsPerChunk), 0U);
}

TEST_F(PageHeapTest, CoreFilesContainShortRows) {
    ASSERT_TRUE(allocate((kLeastLeftOut - 1) * kUnitsPerChunk));
    const std::uint32_t first = last_;
    ASSERT_TRUE(allocate(16 * kUnitsPerChunk));
    release(first);
    pages_.trim(0);
    EXPECT_EQ(left_out(first, (kLeastLeftOut - 1) * kUnitsPerChunk), 0U);
}

TEST_F(PageHeapTest, ARowThatTheKernelRefusesToLeaveOutIsTriedAgain) {
    ASSERT_TRUE(allocate(16 * kUnitsPerChunk));
    const std::uint32_t first = last_;
    fake::fail(Call::set_in_core_files, 0);
    release(first);
    pages_.trim(0);
    EXPECT_EQ(left_out(first, 16 * kUnitsPerChunk), 0U);
    fake::fail(Call::set_in_core_files, fake::kForever);
    ASSERT_TRUE(allocate(1));
    release(last_);
    pages_.trim(0);
    EXPECT_EQ(left_out(first, 16 * kUnitsPerChunk), 16 * kChunkBytes);
}

class ScarcePageHeapTest : public PageHeapTest {
  protected:
    bool take_region() override {
        const bool done = fake::spread(region_, kChunks);
        before_ = region_.reserved_bytes() - region_.metadata_bytes();
        return done;
    }
    void TearDown() override {
        PageHeapTest::TearDown();
        munmap(region_.base(), region_.range_bytes());  // the next test's lies there
    }
    // Beside the tables: that of used and warm units, and no more.
    std::size_t bytes_of_units() const { return region_.reserved_bytes() - region_.metadata_bytes() - before_; }
    void expect_no_more_than_needed() const {
        EXPECT_EQ(bytes_of_units(), pages_.used_bytes() + pages_.retained_bytes());
    }
    bool is_mapped(const char *p) const {
        unsigned char resident = 0;
        return mincore(const_cast<char *>(p), platform::page_size(), &resident) == 0;
    }
    void give_all_back() {
        while (!live_.empty()) release(live_.begin()->first);
        pages_.trim(0);
    }

  private:
    std::size_t before_ = 0;
};

// Where each part is mapped as it grows, until the kernel refuses.
class OpenPageHeapTest : public ScarcePageHeapTest {
  protected:
    bool take_region() override { return fake::open(region_, kChunks); }
    void fill_what_is_mapped() {
        while (live_units() < region_.chunk_count() * kUnitsPerChunk) ASSERT_TRUE(allocate(1));
    }
};

TEST_F(OpenPageHeapTest, ARefusedStepTellsThatAddressesAreScarce) {
    ASSERT_TRUE(allocate(6 * kUnitsPerChunk));
    release(last_);
    pages_.trim(0);
    ASSERT_FALSE(region_.is_scarce());
    const char *const p = region_.address(UnitIndex(last_));
    EXPECT_TRUE(is_mapped(p));
    fill_what_is_mapped();
    // The step is no longer than what was asked for.
    fake::fail(Call::map_at, 0, 1);
    ASSERT_TRUE(allocate(1));
    EXPECT_TRUE(region_.is_scarce());
    give_all_back();
    for (std::uint32_t unit = 0; unit < 6 * kUnitsPerChunk; ++unit) EXPECT_FALSE(is_mapped(p + unit * kUnitBytes));
    history(2000, 0);
    give_all_back();
}

TEST_F(OpenPageHeapTest, TheRefusalOfMuchTellsNothing) {
    fill_what_is_mapped();
    fake::fail(Call::map_at, 0, 2);
    EXPECT_FALSE(allocate((kChunks / 2) * kUnitsPerChunk));
    EXPECT_FALSE(region_.is_scarce());
}

TEST_F(OpenPageHeapTest, AgreesWithTheModelWhenTheKernelRefuses) {
    // Of a region that has a size by then a single chunk more is a small step.
    ASSERT_TRUE(allocate(kChunks / 2 * kUnitsPerChunk));
    release(last_);
    fake::fail(Call::map_at, 0, 4);
    for (std::uint32_t i = 0; i < kChunks * kUnitsPerChunk && !region_.is_scarce(); ++i) allocate(1);
    ASSERT_TRUE(region_.is_scarce()) << "the test tests nothing";
    for (unsigned i = 0; i < 200; ++i) {
        fake::fail(i % 2 == 0 ? Call::map_at : Call::unmap_at, i % 5, 1 + i % 3);
        history(20, 1);
    }
    fake::fail(Call::map_at, fake::kForever);
}

TEST_F(ScarcePageHeapTest, AgreesWithTheModel) {
    history(4000, 0);
    expect_no_more_than_needed();
    give_all_back();
    EXPECT_EQ(bytes_of_units(), 0U);
}

TEST_F(ScarcePageHeapTest, AgreesWithTheModelWhenTheKernelRefuses) {
    for (unsigned i = 0; i < 200; ++i) {
        fake::fail(i % 2 == 0 ? Call::map_at : Call::unmap_at, i % 5, 1 + i % 3);
        history(20, 1);
        EXPECT_GE(bytes_of_units(), pages_.used_bytes() + pages_.retained_bytes());
    }
}

TEST_F(ScarcePageHeapTest, AddressesGoBackAndAreTakenAgain) {
    ASSERT_TRUE(allocate(40));
    const char *const p = region_.address(UnitIndex(last_));
    EXPECT_TRUE(is_mapped(p));
    give_all_back();
    for (std::uint32_t unit = 0; unit < 40; ++unit) EXPECT_FALSE(is_mapped(p + unit * kUnitBytes));
    ASSERT_TRUE(allocate(40));
    EXPECT_EQ(region_.address(UnitIndex(last_)), p);
}

TEST_F(ScarcePageHeapTest, WhatOthersMappedMeanwhileStaysTheirs) {
    ASSERT_TRUE(allocate(8));
    const std::uint32_t first = last_;
    give_all_back();
    char *const theirs = region_.address(UnitIndex(first + 5));
    ASSERT_TRUE(platform::map_at(theirs, kUnitBytes, platform::Access::write));
    theirs[0] = 7;
    EXPECT_FALSE(allocate(8)) << "another's memory was handed out";
    EXPECT_EQ(bytes_of_units(), 0U) << "the units before it were kept";
    ASSERT_TRUE(allocate(5));
    EXPECT_EQ(last_, first);
    EXPECT_EQ(theirs[0], 7);
    EXPECT_TRUE(platform::unmap_at(theirs, kUnitBytes));
    ASSERT_TRUE(allocate(8));
    EXPECT_EQ(last_, first + 5);
    expect_no_more_than_needed();
}

// Of what is free the lowest has no memory then, and gets none.
TEST_F(ScarcePageHeapTest, WhoPrefersColdUnitsGetsWarmOnesWhereNoMoreAreToBeHad) {
    ASSERT_TRUE(allocate(1));
    const std::uint32_t lowest = last_;
    ASSERT_TRUE(allocate(1));
    ASSERT_TRUE(allocate(4));
    const std::uint32_t warm = last_;
    release(lowest);
    pages_.trim(0);
    release(warm);
    ASSERT_EQ(pages_.retained_bytes(), 4 * kUnitBytes);
    fake::fail(Call::map_at, 0);
    EXPECT_TRUE(allocate(1, 1, Prefer::cold));
    EXPECT_EQ(last_, warm);
    fake::reset();
    expect_no_more_than_needed();
}

TEST_F(ScarcePageHeapTest, ARefusalLeavesNothingMapped) {
    ASSERT_TRUE(allocate(2));
    const std::uint32_t hole = last_;
    ASSERT_TRUE(allocate(1));
    const std::uint32_t between = last_;
    release(hole);
    pages_.trim(0);
    // The whole chunk but the one in the middle goes; a run over both of its sides does not fit then.
    fake::fail(Call::map_at, 1);
    EXPECT_FALSE(pages_.extend(UnitIndex(between), UnitCount(1), UnitCount(kUnitsPerChunk * 4)));
    fake::reset();
    expect_no_more_than_needed();
}

// Where the limit is so large that there could be too many holes.
TEST(ScarcePageHeap, MakesHolesOfSomeLengthOnly) {
    fake::reset();
    Region region;
    constexpr std::uint32_t kHole = 4;
    ASSERT_TRUE(fake::spread(region, 4, fake::table_sizes(), kMostHoles * kHole * kUnitBytes));
    PageHeap pages{region};
    pages.initialise(region.fixed_table(), 0);
    std::vector<gr::Run> runs(8);
    for (gr::Run &run : runs) ASSERT_TRUE(pages.allocate(UnitCount(1), UnitCount(1), Prefer::warm, &run));
    const std::size_t all = region.reserved_bytes();
    for (std::uint32_t i = 1; i < kHole; ++i) ASSERT_TRUE(pages.release(runs[i].first, UnitCount(1)));
    EXPECT_EQ(pages.retained_bytes(), 0U);
    EXPECT_EQ(region.reserved_bytes(), all);
    ASSERT_TRUE(pages.release(runs[kHole].first, UnitCount(1)));
    EXPECT_EQ(region.reserved_bytes(), all - kHole * kUnitBytes);
    gr::Run run;
    ASSERT_TRUE(pages.allocate(UnitCount(2), UnitCount(1), Prefer::warm, &run));
    EXPECT_TRUE(run.zeroed);
    EXPECT_EQ(region.reserved_bytes(), all - (kHole - 2) * kUnitBytes);
    EXPECT_TRUE(pages.is_valid());
    munmap(region.base(), region.range_bytes());
}

// The kernel takes its time: others must be able to allocate meanwhile, and must not be given what is being purged.
TEST_F(PageHeapTest, ItIsUsableWhileThePurgeRuns) {
    ASSERT_TRUE(allocate(3 * kUnitsPerChunk));
    std::vector<std::uint32_t> taken;
    fake::on_purge([&] {
        ASSERT_FALSE(pages_.mutex().is_held());
        ASSERT_TRUE(allocate(2));
        taken.push_back(last_);
    });
    release(last_);
    ASSERT_FALSE(taken.empty());
    fake::on_purge(nullptr);
    for (const std::uint32_t first : taken) release(first);
}

TEST_F(PageHeapTest, WhoWaitsForAPurgeSeesWhatItGaveBack) {
    ASSERT_TRUE(allocate(3 * kUnitsPerChunk));
    std::thread waiter;
    std::size_t seen = 0;
    fake::on_purge([&] {
        if (waiter.joinable()) return;
        waiter = std::thread([&] {
            pages_.wait_for_purges();
            seen = pages_.limit().held();
        });
    });
    const std::size_t before = pages_.limit().held();
    release(last_);
    pages_.trim(0);
    ASSERT_TRUE(waiter.joinable());
    waiter.join();
    EXPECT_LT(seen, before);
    fake::on_purge(nullptr);
}

// In fork's child no thread is left to end it.
TEST_F(PageHeapTest, NobodyWaitsForAPurgeThatForkCutOff) {
    ASSERT_TRUE(allocate(3 * kUnitsPerChunk));
    bool went_on = false;
    fake::on_purge([&] {
        pages_.forget_other_threads();
        pages_.wait_for_purges();
        went_on = true;
    });
    release(last_);
    pages_.trim(0);
    EXPECT_TRUE(went_on);
    fake::on_purge(nullptr);
}

TEST_F(PageHeapTest, ARefusedCommitLeavesEverythingAsItWas) {
    while (region_.chunk_of(region_.unit_end()).value < 4) ASSERT_TRUE(allocate(8));
    while (live_units() < 4 * kUnitsPerChunk) ASSERT_TRUE(allocate(1));
    fake::fail(Call::commit, 0);
    EXPECT_FALSE(allocate(1));
    EXPECT_FALSE(allocate(40));
    fake::reset();
    EXPECT_TRUE(pages_.is_valid());
    EXPECT_TRUE(allocate(1));
}

TEST_F(PageHeapTest, AThreadThatIsInsideAlreadyIsRefused) {
    ASSERT_TRUE(allocate(2));
    ASSERT_TRUE(pages_.mutex().lock(platform::Rank::page_heap));
    gr::Run run;
    EXPECT_FALSE(pages_.allocate(UnitCount(1), UnitCount(1), Prefer::warm, &run));
    EXPECT_FALSE(pages_.release(UnitIndex(last_), UnitCount(2)));
    EXPECT_FALSE(pages_.extend(UnitIndex(last_), UnitCount(2), UnitCount(3)));
    EXPECT_EQ(pages_.trim(0), 0U);
    pages_.mutex().unlock(platform::Rank::page_heap);
    release(last_);
}

// What is retained goes before a request is refused; and a refused request holds nothing.
TEST_F(PageHeapTest, TheHardLimitCountsWhatIsUsedAndWhatIsRetained) {
    const std::size_t tables = region_.metadata_bytes();
    pages_.limit().initialise(MemoryLimit::kNone, 3 * kChunkBytes + kMiB);
    for (unsigned i = 0; i < 3; ++i) ASSERT_TRUE(allocate(kUnitsPerChunk));
    const std::size_t held = pages_.used_bytes() + region_.metadata_bytes() - tables;
    EXPECT_EQ(pages_.limit().held(), held);
    EXPECT_FALSE(allocate(kUnitsPerChunk));
    EXPECT_EQ(pages_.limit().held(), held + region_.metadata_bytes() - tables - (held - pages_.used_bytes()));
    release(region_.first_unit().value);
    ASSERT_NE(pages_.retained_bytes(), 0U);
    EXPECT_TRUE(allocate(kUnitsPerChunk / 2, 1, Prefer::cold)) << "what was retained stood in the way";
    EXPECT_EQ(pages_.limit().held(), pages_.used_bytes() + pages_.retained_bytes() + region_.metadata_bytes() - tables);
    EXPECT_FALSE(pages_.extend(UnitIndex(last_), UnitCount(kUnitsPerChunk / 2), UnitCount(kUnitsPerChunk * 2)));
}

TEST_F(PageHeapTest, AboveTheSoftLimitNothingIsRetained) {
    pages_.limit().initialise(2 * kChunkBytes, MemoryLimit::kNone);
    ASSERT_TRUE(allocate(kUnitsPerChunk));
    const std::uint32_t first = last_;
    ASSERT_TRUE(allocate(2));
    const std::uint32_t second = last_;
    ASSERT_TRUE(allocate(2));
    release(second);
    ASSERT_NE(pages_.retained_bytes(), 0U);
    ASSERT_TRUE(allocate(2 * kUnitsPerChunk));
    EXPECT_TRUE(pages_.limit().is_above_soft());
    EXPECT_EQ(pages_.retained_bytes(), 0U) << "kept when the limit was crossed";
    ASSERT_TRUE(allocate(kUnitsPerChunk));
    release(first);
    EXPECT_EQ(pages_.retained_bytes(), 0U) << "kept by a release above it";
}

TEST_F(PageHeapTest, AboveTheSoftLimitNothingIsRetainedBesideARunThatGrew) {
    pages_.limit().initialise(2 * kChunkBytes, MemoryLimit::kNone);
    ASSERT_TRUE(allocate(2));
    const std::uint32_t retained = last_;
    ASSERT_TRUE(allocate(2));
    release(retained);
    ASSERT_NE(pages_.retained_bytes(), 0U);
    ASSERT_TRUE(pages_.extend(UnitIndex(last_), UnitCount(2), UnitCount(3 * kUnitsPerChunk)));
    live_[last_].count = 3 * kUnitsPerChunk;
    EXPECT_TRUE(pages_.limit().is_above_soft());
    EXPECT_EQ(pages_.retained_bytes(), 0U);
}

}  // namespace gr::page_heap_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where a region's parts lie, that they are committed together, and what a refusal leaves behind.
// Invariant: every committed byte is touched, so a part that is too short ends the test.
// Must not know: what the tables hold.
#include "region/region.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "fake/memory.hpp"
#include "fake/region.hpp"

namespace gr::region_test {

using fake::Call;

class RegionTest : public testing::Test {
  protected:
    void SetUp() override { fake::reset(); }
};

struct Part {
    char *begin;
    std::size_t bytes;
};

constexpr std::size_t kReadableBytes = 3 * kUnitBytes;

bool reserve(Region &region, std::uint32_t chunks) {
    return fake::reserve(region, chunks, fake::table_sizes(0, kReadableBytes));
}

// What a region of `chunks` usable chunks promises to have committed.
std::vector<Part> parts(const Region &region, std::uint32_t chunks) {
    const TableSizes sizes = fake::table_sizes();
    const std::size_t units = region.first_unit().value + std::size_t{chunks} * kUnitsPerChunk;
    std::vector<Part> all{{region.base(), units * sizeof(UnitEntry)},
                          {region.address(region.first_unit()), chunks * kChunkBytes},
                          {region.fixed_table(), sizes.fixed_bytes}};
    for (std::size_t i = 0; i < kGrowingTables; ++i)
        all.push_back({region.table(i), sizes.bytes_per_chunk[i] * chunks});
    return all;
}

bool is_zero(const Part &part) {
    return part.begin[0] == 0 && std::memcmp(part.begin, part.begin + 1, part.bytes - 1) == 0;
}

TEST_F(RegionTest, PartsAreAlignedZeroDisjointAndInOrder) {
    for (const std::uint32_t chunks : {2U, 3U, 7U, 64U, 100U}) {
        Region region;
        ASSERT_TRUE(reserve(region, chunks));
        EXPECT_EQ(region.chunk_limit(), chunks);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.base()) % kChunkBytes, 0U);
        ASSERT_TRUE(region.ensure_chunks(chunks));
        const Part readable{region.readable_table(), kReadableBytes};
        EXPECT_TRUE(is_zero(readable));
        EXPECT_GE(readable.begin, region.base() + parts(region, chunks)[0].bytes);
        EXPECT_LE(readable.begin + readable.bytes, region.address(region.first_unit()));
        char *end = region.base();
        char marker = 0;
        for (const Part &part : parts(region, chunks)) {
            EXPECT_GE(part.begin, end) << "overlaps the part before";
            EXPECT_TRUE(is_zero(part));
            std::memset(part.begin, ++marker, part.bytes);
            end = part.begin + part.bytes;
        }
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.address(region.first_unit())) % kChunkBytes, 0U);
        EXPECT_LE(end, region.base() + region.range_bytes());
        EXPECT_LE(region.range_bytes(), region.reserved_bytes());
    }
}

TEST_F(RegionTest, UnitsAddressesAndChunksAgree) {
    Region region;
    ASSERT_TRUE(reserve(region, 8));
    ASSERT_TRUE(region.ensure_chunks(8));
    for (std::uint32_t c = 0; c < 8; ++c) {
        const UnitIndex first = region.unit_at(ChunkIndex(c));
        for (std::uint32_t i = 0; i < kUnitsPerChunk; ++i) {
            const UnitIndex unit = first + UnitCount(i);
            EXPECT_EQ(region.chunk_of(unit).value, c);
            EXPECT_EQ(region.unit_of(region.address(unit)), unit);
            EXPECT_EQ(region.unit_of(region.address(unit) + kUnitBytes - 1), unit);
            region.entry(unit) = unit.value;
        }
    }
    EXPECT_EQ(region.entry(region.first_unit()), region.first_unit().value);
}

TEST_F(RegionTest, ContainsExactlyWhatIsCommitted) {
    Region region;
    ASSERT_TRUE(reserve(region, 64));
    const char *const end = region.address(region.unit_end());
    EXPECT_TRUE(region.contains(end - 1));
    EXPECT_FALSE(region.contains(end));
    EXPECT_FALSE(region.contains(region.base() - 1));
    EXPECT_FALSE(region.contains(nullptr));
    EXPECT_FALSE(region.contains(reinterpret_cast<const void *>(UINTPTR_MAX)));
    EXPECT_FALSE(region.contains(region.base() + (std::size_t{1} << 48))) << "the index was cut to 32 bits";
    // Of its own tables some are inside, and their entries reject.
    EXPECT_EQ(region.entry(region.unit_of(region.base())), 0U);
    EXPECT_EQ(region.entry(region.unit_of(region.readable_table())), 0U);
    EXPECT_FALSE(region.contains(region.fixed_table()));
    EXPECT_FALSE(region.contains(region.table(kGrowingTables - 1)));
}

TEST_F(RegionTest, NothingIsInsideBeforeItIsReserved) {
    const Region region;
    EXPECT_FALSE(region.contains(nullptr));
    EXPECT_FALSE(region.contains(&region));
}

TEST_F(RegionTest, NothingIsLeftOfWhatIsUnreserved) {
    const std::size_t before = fake::mapped_bytes();
    Region region;
    ASSERT_TRUE(reserve(region, 8));
    ASSERT_TRUE(region.ensure_chunks(5));
    const char *const block = region.address(region.first_unit());
    region.unreserve();
    EXPECT_EQ(fake::mapped_bytes(), before);
    EXPECT_FALSE(region.contains(block));
    EXPECT_FALSE(region.contains(nullptr));
    EXPECT_EQ(region.reserved_bytes(), 0U);
}

bool spread(Region &region, std::uint32_t chunks) {
    TableSizes sizes = fake::table_sizes(0, kReadableBytes);
    sizes.seldom_used = kGrowingTables - 1;
    return fake::spread(region, chunks, sizes);
}

TEST_F(RegionTest, AScarceOneMapsWhatIsWantedOnly) {
    const std::size_t before = fake::mapped_bytes();
    Region region;
    ASSERT_TRUE(spread(region, 2048));
    EXPECT_EQ(region.chunk_limit(), 2048U);
    EXPECT_GE(region.range_bytes(), 2048 * kChunkBytes);
    EXPECT_LT(region.reserved_bytes(), 2 * kMiB);
    EXPECT_EQ(fake::calls(Call::reserve), 0U);
    ASSERT_TRUE(region.ensure_chunks(300));
    std::vector<Part> all = parts(region, 300);
    const Part chunks = all[1];
    const Part seldom = all.back();
    all.pop_back();
    all.erase(all.begin() + 1);
    for (const Part &part : all) {
        EXPECT_TRUE(is_zero(part));
        std::memset(part.begin, 1, part.bytes);
    }
    const std::size_t tables = region.reserved_bytes();
    ASSERT_TRUE(region.ensure_table(kGrowingTables - 1, ChunkIndex(299)));
    EXPECT_GE(region.reserved_bytes() - tables, seldom.bytes);
    std::memset(seldom.begin, 1, seldom.bytes);
    const UnitIndex first = region.first_unit() + UnitCount(100);
    ASSERT_TRUE(region.map_units(first, UnitCount(9)));
    std::memset(chunks.begin + 100 * kUnitBytes, 1, 9 * kUnitBytes);
    EXPECT_EQ(fake::mapped_bytes() - before, region.reserved_bytes());
    ASSERT_TRUE(region.unmap_units(first, UnitCount(9)));
    region.unreserve();
    EXPECT_EQ(fake::mapped_bytes(), before);
    EXPECT_FALSE(region.contains(chunks.begin));
}

TEST_F(RegionTest, AScarceOneTakesNobodysPlace) {
    Region region;
    ASSERT_TRUE(spread(region, 64));
    char *const theirs = region.address(region.first_unit() + UnitCount(3));
    ASSERT_TRUE(platform::map_at(theirs, kUnitBytes, platform::Access::write));
    EXPECT_FALSE(region.map_units(region.first_unit(), UnitCount(4)));
    ASSERT_TRUE(region.map_units(region.first_unit(), UnitCount(3)));
    // It would lie where the first one does, finds that there, and goes elsewhere; some emulators would have put it so that
    // it lies between the parts of the first one.
    *theirs = 'x';
    *region.fixed_table() = 'y';
    Region other;
    ASSERT_TRUE(spread(other, 64));
    EXPECT_NE(other.base(), region.base());
    EXPECT_EQ(*other.fixed_table(), '\0');
    *other.fixed_table() = 'z';
    EXPECT_EQ(*theirs, 'x');
    EXPECT_EQ(*region.fixed_table(), 'y');
    other.unreserve();
    EXPECT_TRUE(platform::unmap_at(theirs, kUnitBytes));
    EXPECT_TRUE(region.unmap_units(region.first_unit(), UnitCount(3)));
    region.unreserve();
}

// Whichever mapping is refused: another distance is tried, and what was mapped at the one before goes back.
TEST_F(RegionTest, AScarceOneThatIsRefusedLeavesNothing) {
    const std::size_t before = fake::mapped_bytes();
    constexpr unsigned kMappings = 8;
    for (unsigned passes = 0; passes < kMappings; ++passes) {
        fake::reset();
        Region region;
        fake::fail(Call::map_at, passes, 1);
        ASSERT_TRUE(spread(region, 64)) << passes;
        EXPECT_EQ(fake::calls(Call::map_at), passes + 1 + kMappings);
        EXPECT_EQ(fake::mapped_bytes() - before, region.reserved_bytes());
        region.unreserve();
        fake::fail(Call::map_at, passes);
        EXPECT_FALSE(spread(region, 64));
        EXPECT_EQ(fake::mapped_bytes(), before);
        EXPECT_FALSE(region.contains(&region));
        EXPECT_EQ(region.reserved_bytes(), 0U);
    }
}

TEST_F(RegionTest, AScarceOneInAPlaceOfTheCallersStaysThereAndMapsWhatIsWantedOnly) {
    const std::size_t before = fake::mapped_bytes();
    constexpr std::size_t kBytes = kGiB;
    // Some emulators have no room below the mappings.
    char *far = platform::far_below_mappings(8 * kTiB);
    if (far == nullptr) far = platform::far_above_mappings(4 * kTiB);
    auto *const place = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(far), kChunkBytes));
    Region region;
    ASSERT_TRUE(region.spread_within(place, kBytes, fake::table_sizes(0, kReadableBytes), kGiB));
    EXPECT_TRUE(region.is_scarce());
    EXPECT_EQ(region.base(), place);
    EXPECT_LE(region.range_bytes(), kBytes);
    EXPECT_GE(region.chunk_limit() * kChunkBytes, kBytes - kBytes / 8);
    EXPECT_EQ(fake::mapped_bytes() - before, region.reserved_bytes());
    EXPECT_LT(region.reserved_bytes(), 2 * kMiB);
    ASSERT_TRUE(region.map_units(region.first_unit(), UnitCount(2)));
    EXPECT_TRUE(region.unmap_units(region.first_unit(), UnitCount(2)));
    region.unreserve();
    EXPECT_EQ(fake::mapped_bytes(), before);
    EXPECT_FALSE(region.spread_within(place, kChunkBytes, fake::table_sizes(), kGiB));
    fake::fail(Call::map_at, 1);
    EXPECT_FALSE(region.spread_within(place, kBytes, fake::table_sizes(), kGiB));
    EXPECT_EQ(fake::mapped_bytes(), before);
}

bool open(Region &region, std::uint32_t chunks) {
    return fake::open(region, chunks, fake::table_sizes(0, kReadableBytes));
}

TEST_F(RegionTest, AnOpenOneMapsWhatItHasOnly) {
    const std::size_t before = fake::mapped_bytes();
    Region region;
    constexpr auto kMost = static_cast<std::uint32_t>(kRegionMaxBytes / kChunkBytes);
    ASSERT_TRUE(open(region, kMost));
    EXPECT_EQ(region.chunk_limit(), kMost);
    EXPECT_EQ(fake::calls(Call::reserve), 0U);
    EXPECT_EQ(fake::calls(Call::commit), 0U);
    // The tables grow with the chunks, however large the range is.
    EXPECT_LT(region.reserved_bytes(), kChunkBytes + kMiB);
    for (const std::uint32_t chunks : {1U, 2U, 3U, 300U}) {
        ASSERT_TRUE(region.ensure_chunks(chunks));
        EXPECT_EQ(fake::mapped_bytes() - before, region.reserved_bytes());
        for (const Part &part : parts(region, region.chunk_count())) std::memset(part.begin, 1, part.bytes);
    }
    ASSERT_TRUE(region.make_writable(region.readable_table(), kUnitBytes));
    *region.readable_table() = 1;
    region.unreserve();
    EXPECT_EQ(fake::mapped_bytes(), before);
    EXPECT_EQ(region.reserved_bytes(), 0U);
}

TEST_F(RegionTest, AnOpenOneThatIsRefusedLeavesNothing) {
    const std::size_t before = fake::mapped_bytes();
    constexpr unsigned kMappings = 10;
    for (unsigned passes = 0; passes < kMappings; ++passes) {
        fake::reset();
        Region region;
        fake::fail(Call::map_at, passes, 1);
        ASSERT_TRUE(open(region, 64)) << passes;
        EXPECT_EQ(fake::calls(Call::map_at), passes + 1 + kMappings);
        EXPECT_EQ(fake::mapped_bytes() - before, region.reserved_bytes());
        region.unreserve();
        fake::fail(Call::map_at, passes);
        EXPECT_FALSE(open(region, 64));
        EXPECT_EQ(fake::mapped_bytes(), before);
        EXPECT_EQ(region.reserved_bytes(), 0U);
    }
}

TEST_F(RegionTest, WhoIsRefusedALongStepGetsAShortOne) {
    Region region;
    ASSERT_TRUE(open(region, 64));
    ASSERT_TRUE(region.ensure_chunks(32));
    const std::uint32_t before = region.chunk_count();
    ASSERT_TRUE(region.ensure_chunks(before + 1));
    EXPECT_GT(region.chunk_count(), before + 1) << "no step was longer than what was asked for";
    const std::uint32_t wanted = region.chunk_count() + 1;
    fake::fail(Call::map_at, 0, 1);
    ASSERT_TRUE(region.ensure_chunks(wanted));
    EXPECT_EQ(region.chunk_count(), wanted);
    for (const Part &part : parts(region, wanted)) EXPECT_TRUE(is_zero(part));
    region.unreserve();
}

TEST_F(RegionTest, HugePagesAreAdvisedForWhatAnOpenOneMapsLater) {
    Region region;
    ASSERT_TRUE(open(region, 64));
    region.allow_huge_pages(false);
    const char *const end = region.address(region.unit_end());
    ASSERT_TRUE(region.ensure_chunks(40));
    const fake::Allowed &last = fake::allowed().back();
    EXPECT_EQ(last.begin, end);
    EXPECT_EQ(last.begin + last.bytes, region.address(region.unit_end()));
    EXPECT_FALSE(last.allowed);
    region.unreserve();
}

TEST_F(RegionTest, HalvesUntilTheKernelAgrees) {
    Region region;
    fake::fail(Call::reserve, 0, 3);
    ASSERT_TRUE(reserve(region, 64));
    EXPECT_EQ(region.chunk_limit(), 8U);
    EXPECT_EQ(fake::calls(Call::reserve), 4U);
    fake::reset();
    Region never;
    fake::fail(Call::reserve, 0);
    EXPECT_FALSE(reserve(never, 64));
    EXPECT_FALSE(never.contains(&never));
}

TEST_F(RegionTest, ACommitThatIsRefusedAtTheStartTriesASmallerRegion) {
    for (unsigned passes = 0; passes < 6; ++passes) {
        fake::reset();
        const std::size_t before = fake::mapped_bytes();
        Region region;
        fake::fail(Call::commit, passes, 1);
        ASSERT_TRUE(reserve(region, 64));
        EXPECT_EQ(region.chunk_limit(), 32U) << passes;
        EXPECT_EQ(fake::mapped_bytes() - before, region.reserved_bytes()) << "the larger reservation was lost";
        for (const Part &part : parts(region, 1)) EXPECT_TRUE(is_zero(part));
    }
    fake::reset();
    Region unreadable;
    fake::fail(Call::make_readable, 0, 1);
    ASSERT_TRUE(reserve(unreadable, 64));
    EXPECT_EQ(unreadable.chunk_limit(), 32U);
    const std::size_t before = fake::mapped_bytes();
    Region never;
    fake::fail(Call::commit, 0);
    EXPECT_FALSE(reserve(never, 64));
    EXPECT_EQ(fake::mapped_bytes(), before);
}

// Whichever of the commits of a growth step fails: units, addresses and contents stay, and the next try completes it.
TEST_F(RegionTest, ARefusedCommitChangesNothing) {
    for (unsigned passes = 0;; ++passes) {
        fake::reset();
        Region region;
        std::uint64_t published = 0;
        ASSERT_TRUE(reserve(region, 256));
        region.publish_fine_end(&published);
        ASSERT_TRUE(region.ensure_chunks(8));
        for (const Part &part : parts(region, 8)) std::memset(part.begin, 7, part.bytes);
        const UnitIndex end = region.unit_end();
        const unsigned commits = fake::calls(Call::commit);
        fake::fail(Call::commit, passes, 1);
        if (region.ensure_chunks(200)) {
            EXPECT_GE(passes, 4U) << "a growth of the map, the tables and the chunks is more commits than that";
            EXPECT_LE(fake::calls(Call::commit) - commits, passes);
            return;
        }
        EXPECT_EQ(region.unit_end(), end);
        EXPECT_EQ(published, end.value * (kUnitBytes / kFineStep));
        EXPECT_FALSE(region.contains(region.address(end)));
        for (const Part &part : parts(region, 8)) EXPECT_EQ(part.begin[part.bytes - 1], 7);
        ASSERT_TRUE(region.ensure_chunks(200));
        EXPECT_EQ(published, region.unit_end().value * (kUnitBytes / kFineStep));
        for (const Part &part : parts(region, 200)) std::memset(part.begin, 1, part.bytes);
    }
}

TEST_F(RegionTest, GrowsInStepsUpToItsLimitAndNoFurther) {
    Region region;
    ASSERT_TRUE(reserve(region, 100));
    std::uint32_t chunks = 0;
    for (std::uint32_t wanted = 1; wanted <= 100; ++wanted) {
        ASSERT_TRUE(region.ensure_chunks(wanted));
        const std::uint32_t now = region.chunk_of(region.unit_end()).value;
        EXPECT_GE(now, wanted);
        EXPECT_GE(now, chunks);
        chunks = now;
    }
    EXPECT_EQ(chunks, 100U);
    const unsigned commits = fake::calls(Call::commit);
    EXPECT_LT(commits, 120U) << "each chunk on its own is a storm of system calls";
    EXPECT_FALSE(region.ensure_chunks(101));
    EXPECT_TRUE(region.ensure_chunks(100));
    EXPECT_EQ(fake::calls(Call::commit), commits);
}

}  // namespace gr::region_test

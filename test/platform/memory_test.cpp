// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory.hpp on the real kernel: alignment, zeroes, protection, refusal.
// Invariant: errno stays as it was, whatever the kernel answers.
// Must not know: who uses the memory.
#include "platform/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/bits.hpp"
#include "base/config.hpp"

namespace gr::platform::memory_test {

class Memory : public testing::Test {
  protected:
    void SetUp() override { errno = EXDEV; }
    void TearDown() override { EXPECT_EQ(errno, EXDEV); }
};

bool is_zero(const char *p, std::size_t bytes) {
    return std::all_of(p, p + bytes, [](char c) { return c == 0; });
}

// Whether the kernel has a mapping there.
bool is_mapped(void *p) {
    const int before = errno;
    unsigned char resident = 0;
    const bool mapped = mincore(p, page_size(), &resident) == 0;
    errno = before;
    return mapped;
}

TEST_F(Memory, PageSizeIsTheKernels) { EXPECT_EQ(page_size(), static_cast<std::size_t>(sysconf(_SC_PAGESIZE))); }

TEST_F(Memory, MapsAlignedZeroesAndNothingAround) {
    for (std::size_t alignment = 1; alignment <= 64 * kMiB; alignment *= 2) {
        for (std::size_t pages = 1; pages <= 5; pages += 4) {
            const std::size_t bytes = pages * page_size();
            char *const p = static_cast<char *>(map(bytes, alignment));
            ASSERT_NE(p, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
            EXPECT_TRUE(is_zero(p, bytes));
            std::memset(p, 1, bytes);
            unmap(p, bytes);
            EXPECT_FALSE(is_mapped(p));
            EXPECT_FALSE(is_mapped(p + bytes - page_size()));
        }
    }
}

TEST_F(Memory, RefusesWhatCannotBe) {
    EXPECT_EQ(map(SIZE_MAX / 2, 1), nullptr);
    EXPECT_EQ(map(SIZE_MAX - 4096, 64 * kKiB), nullptr) << "bytes and alignment together wrap";
    EXPECT_EQ(reserve(SIZE_MAX / 2), nullptr);
}

TEST_F(Memory, ReservationsAreUntouchableUntilCommitted) {
    const std::size_t page = page_size();
    char *const p = static_cast<char *>(reserve(4 * page));
    ASSERT_NE(p, nullptr);
    EXPECT_DEATH(*static_cast<volatile char *>(p) = 1, "");
    ASSERT_TRUE(commit(p, 2 * page));
    EXPECT_TRUE(is_zero(p, 2 * page));
    std::memset(p, 1, 2 * page);
    EXPECT_DEATH(static_cast<volatile char *>(p)[2 * page] = 1, "");
    unmap(p, 4 * page);
    EXPECT_FALSE(commit(p, page)) << "nothing lies there any more";
    EXPECT_FALSE(purge(p, page));
}

TEST_F(Memory, MapsAtAPlaceWhereNobodyIs) {
    const std::size_t page = page_size();
    char *const p = far_below_mappings(kGiB);
    ASSERT_NE(p, nullptr);
    EXPECT_FALSE(is_mapped(p));
    EXPECT_TRUE(is_unmapped(p, 3 * page));
    EXPECT_FALSE(is_mapped(p)) << "whoever asks takes nothing";
    ASSERT_TRUE(map_at(p, 3 * page, Access::write));
    EXPECT_FALSE(is_unmapped(p, page));
    EXPECT_FALSE(is_unmapped(p - page, kGiB));
    EXPECT_TRUE(is_zero(p, 3 * page));
    std::memset(p, 7, 3 * page);
    EXPECT_FALSE(map_at(p - page, 2 * page, Access::write)) << "the second page is taken";
    EXPECT_FALSE(is_mapped(p - page));
    EXPECT_EQ(p[0], 7);
    ASSERT_TRUE(unmap_at(p + page, page));
    EXPECT_FALSE(is_mapped(p + page));
    ASSERT_TRUE(map_at(p + page, page, Access::read));
    EXPECT_TRUE(is_zero(p + page, page));
    EXPECT_DEATH(static_cast<volatile char *>(p)[page] = 1, "");
    EXPECT_EQ(p[2 * page], 7);
    EXPECT_TRUE(unmap_at(p, 3 * page));
    EXPECT_EQ(far_below_mappings(SIZE_MAX - page), nullptr);
}

TEST_F(Memory, PurgedPagesReadAsZeroAndTheirNeighboursStay) {
    const std::size_t page = page_size();
    char *const p = static_cast<char *>(map(3 * page, 1));
    ASSERT_NE(p, nullptr);
    std::memset(p, 7, 3 * page);
    ASSERT_TRUE(purge(p + page, page));
    EXPECT_TRUE(is_zero(p + page, page));
    EXPECT_EQ(p[page - 1], 7);
    EXPECT_EQ(p[2 * page], 7);
    unmap(p, 3 * page);
}

TEST_F(Memory, RemapKeepsTheBytesAndAddsZeroes) {
    const std::size_t page = page_size();
    char *p = static_cast<char *>(map(2 * page, 1));
    ASSERT_NE(p, nullptr);
    std::memset(p, 7, 2 * page);
    EXPECT_EQ(remap(p, 2 * page, SIZE_MAX / 2), nullptr);
    EXPECT_EQ(p[2 * page - 1], 7) << "the old mapping stands after a refusal";
    p = static_cast<char *>(remap(p, 2 * page, 300 * page));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(p[2 * page - 1], 7);
    EXPECT_TRUE(is_zero(p + 2 * page, 298 * page));
    p = static_cast<char *>(remap(p, 300 * page, page));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(p[page - 1], 7);
    EXPECT_FALSE(is_mapped(p + page));
    unmap(p, page);
}

TEST_F(Memory, RemapsInPlace) {
    const std::size_t page = page_size();
    char *const p = static_cast<char *>(map(4 * page, 1));
    ASSERT_NE(p, nullptr);
    std::memset(p, 7, 4 * page);
    EXPECT_TRUE(remap_in_place(p, 4 * page, page));
    EXPECT_EQ(p[page - 1], 7);
    EXPECT_FALSE(is_mapped(p + page));
    EXPECT_TRUE(remap_in_place(p, page, 2 * page));
    EXPECT_EQ(p[page - 1], 7);
    EXPECT_TRUE(is_zero(p + page, page));
    ASSERT_TRUE(map_at(p + 2 * page, page, Access::write));
    EXPECT_FALSE(remap_in_place(p, 2 * page, 3 * page)) << "somebody's mapping is behind it";
    EXPECT_EQ(p[page - 1], 7);
    unmap(p, 3 * page);
}

}  // namespace gr::platform::memory_test

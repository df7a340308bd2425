// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: phkmalloc-like as it is composed, and its pages of blocks: sizes, where infos lie, which block is next, misuse,
//    options.
// Invariant: each option is tried in a process of its own, for it is read once.
// Must not know: the face.
#include "parts/phkmalloc/paged_allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace gr::lab::phkmalloc_like_test {

constexpr std::size_t kPage = kRunPageBytes;

std::uintptr_t page_of(const void *p) { return reinterpret_cast<std::uintptr_t>(p) / kPage; }
std::size_t offset_of(const void *p) { return reinterpret_cast<std::uintptr_t>(p) % kPage; }

TEST(DividedPageTest, InfosOfSmallBlocksLieInside) {
    for (std::size_t size = kAlignment; size <= DividedPage::kLargest; size *= 2) {
        EXPECT_EQ(DividedPage::is_info_inside(size), size <= 64) << size;
        EXPECT_GE(DividedPage::blocks_of_info(size) * size, DividedPage::is_info_inside(size) ? 1U : 0U);
        EXPECT_LT(DividedPage::blocks_of_info(size) * size, DividedPage::info_bytes(size) + size);
    }
}

TEST(DividedPageTest, EachBlockIsServedOnceTheFirstFreeOneFirst) {
    alignas(kPage) static char memory[kPage];
    alignas(DividedPage) static char record[kPageInfoBytes];
    for (std::size_t size = kAlignment; size <= DividedPage::kLargest; size *= 2) {
        DividedPage *const page = DividedPage::make(memory, size, record);
        EXPECT_TRUE(page->is_empty());
        EXPECT_EQ(page->size(), size);
        const char *next = memory + DividedPage::blocks_of_info(size) * size;
        for (; !page->is_full(); next += size) ASSERT_EQ(page->take(), next);
        EXPECT_EQ(next, memory + kPage);
        const char *const last = next - size;
        EXPECT_TRUE(page->is_in_use(last));
        EXPECT_TRUE(page->put(last));
        EXPECT_FALSE(page->is_in_use(last));
        EXPECT_FALSE(page->put(last)) << "freed twice";
        EXPECT_FALSE(page->put(last - size + 8)) << "inside a block";
        if (DividedPage::is_info_inside(size)) {
            EXPECT_FALSE(page->put(memory)) << "the info";
        }
        for (const char *p = memory + DividedPage::blocks_of_info(size) * size; p != last; p += size)
            ASSERT_TRUE(page->put(p));
        EXPECT_TRUE(page->is_empty());
    }
}

TEST(PhkmallocLikeTest, SizesArePowersOfTwoAndPages) {
    static constinit PagedAllocator allocator;
    const std::pair<std::size_t, std::size_t> sizes[] = {{0, 16},
                                                         {1, 16},
                                                         {17, 32},
                                                         {33, 64},
                                                         {513, 1024},
                                                         {1025, 2048},
                                                         {2048, 2048},
                                                         {2049, kPage},
                                                         {kPage, kPage},
                                                         {kPage + 1, 2 * kPage},
                                                         {kMiB + 1, kMiB + kPage}};
    for (const auto &[asked, given] : sizes) {
        void *const block = allocator.allocate(asked);
        EXPECT_EQ(allocator.usable_size(block), given) << asked;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::min(given, kPage), 0U) << asked;
        allocator.free(block);
    }
    EXPECT_EQ(allocator.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(allocator.zeroed_above(), SIZE_MAX);
    EXPECT_TRUE(allocator.is_valid());
}

TEST(PhkmallocLikeTest, EveryAlignmentAtManySizes) {
    static constinit PagedAllocator allocator;
    for (std::size_t alignment = 1; alignment <= 8 * kMiB; alignment *= 2) {
        for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{24}, 3 * kKiB, kMiB + 1}) {
            void *const block = allocator.allocate_aligned(size, alignment);
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::max(alignment, kAlignment), 0U);
            ASSERT_GE(allocator.usable_size(block), size);
            std::memset(block, 1, allocator.usable_size(block));
            allocator.free(block);
        }
    }
    EXPECT_EQ(allocator.allocate_aligned(1, std::size_t{1} << 63), nullptr);
}

TEST(PhkmallocLikeTest, TheHighestPageWithAFreeBlockServes) {
    static constinit PagedAllocator allocator;
    std::vector<void *> blocks;
    for (std::size_t i = 0; i < 4 * kPage / kKiB; ++i) blocks.push_back(allocator.allocate(kKiB));
    std::sort(blocks.begin(), blocks.end());
    allocator.free(blocks[2]);
    allocator.free(blocks[9]);
    allocator.free(blocks[6]);
    ASSERT_TRUE(allocator.is_valid());
    for (const std::size_t next : {9U, 6U, 2U}) EXPECT_EQ(allocator.allocate(kKiB), blocks[next]);
    EXPECT_TRUE(allocator.is_valid());
}

TEST(PhkmallocLikeTest, APageWhoseLastBlockCameBackIsFreeForAnySize) {
    static constinit PagedAllocator allocator;
    for (const std::size_t size : {std::size_t{16}, kKiB}) {
        void *const block = allocator.allocate(size);
        const std::uintptr_t page = page_of(block);
        EXPECT_EQ(offset_of(block), DividedPage::blocks_of_info(size) * size);
        allocator.free(block);
        EXPECT_EQ(allocator.runs().directory().of(block).state(), PageState::free);
        void *const other = allocator.allocate(size == 16 ? 256 : 32);
        EXPECT_EQ(page_of(other), page);
        allocator.free(other);
    }
}

TEST(PhkmallocLikeTest, MisuseEndsInALine) {
    static constinit PagedAllocator allocator;
    auto *const small = static_cast<char *>(allocator.allocate(64));
    allocator.allocate(64);
    auto *const run = static_cast<char *>(allocator.allocate(3 * kPage));
    char on_the_stack = 0;
    for (char *const wrong : {small + 16, small - offset_of(small), run + 16, run + kPage, &on_the_stack}) {
        EXPECT_DEATH(allocator.free(wrong), "not a block in use.*; aborting");
        EXPECT_DEATH(allocator.usable_size(wrong), "not a block in use.*; aborting");
    }
    allocator.free(small);
    EXPECT_DEATH(allocator.free(small), "not a block in use") << "freed twice";
    allocator.free(run);
    EXPECT_DEATH(allocator.free(run), "not a block in use") << "freed twice";
}

TEST(PhkmallocLikeTest, RandomBlocksKeepTheirBytes) {
    static constinit PagedAllocator allocator;
    std::mt19937 random(7);
    struct Piece {
        unsigned char *p;
        std::size_t size;
        unsigned char byte;
    };
    std::vector<Piece> pieces;
    for (int step = 0; step < 40000; ++step) {
        if (pieces.empty() || random() % 100 < (step / 5000 % 2 == 0 ? 60U : 40U)) {
            const std::size_t size = std::size_t{1} + random() % (std::size_t{2} << random() % 16);
            void *const p = allocator.allocate(size);
            ASSERT_NE(p, nullptr);
            ASSERT_GE(allocator.usable_size(p), size);
            const auto byte = static_cast<unsigned char>(random());
            std::memset(p, byte, size);
            pieces.push_back({static_cast<unsigned char *>(p), size, byte});
        } else {
            std::swap(pieces[random() % pieces.size()], pieces.back());
            const Piece piece = pieces.back();
            pieces.pop_back();
            ASSERT_TRUE(std::all_of(piece.p, piece.p + piece.size, [&](unsigned char c) { return c == piece.byte; }));
            allocator.free(piece.p);
        }
        if (step % 100 == 0) {
            ASSERT_TRUE(allocator.is_valid());
        }
    }
    for (const Piece &piece : pieces) allocator.free(piece.p);
    EXPECT_TRUE(allocator.is_valid());
}

// In a child that reads the options; what it returns is its exit code.
template <class Work>
void with_options(const char *letters, Work work) {
    static constinit PagedAllocator fresh;
    setenv("MALLOC_OPTIONS", letters, 1);
    work(fresh);
}

TEST(PhkmallocLikeOptionsTest, MisuseMayBeAWarning) {
    EXPECT_EXIT(with_options("a",
                             [](PagedAllocator &fresh) {
                                 void *const block = fresh.allocate(64);
                                 void *const other = fresh.allocate(64);
                                 fresh.free(block);
                                 fresh.free(block);
                                 _exit(fresh.allocate(64) == block && fresh.allocate(64) != other && fresh.is_valid());
                             }),
                testing::ExitedWithCode(1),
                "^granary: lab: free\\(0x[0-9a-f]+\\): not a block in use[^\n]*; ignored\n$");
}

TEST(PhkmallocLikeOptionsTest, JunkZeroesAndNoBytes) {
    EXPECT_EXIT(
        with_options("JV",
                     [](PagedAllocator &fresh) {
                         auto *const block = static_cast<unsigned char *>(fresh.allocate(5000));
                         const bool was_junk = block[4999] == MallocOptions::kJunk;
                         fresh.free(block);
                         _exit(was_junk && block[4999] == MallocOptions::kFreedJunk && fresh.allocate(0) == nullptr);
                     }),
        testing::ExitedWithCode(1), "^$");
    EXPECT_EXIT(with_options("Z",
                             [](PagedAllocator &fresh) {
                                 auto *const block = static_cast<unsigned char *>(fresh.allocate(100));
                                 std::memset(block, 'x', 100);
                                 fresh.free(block);
                                 auto *const again = static_cast<unsigned char *>(fresh.allocate(100));
                                 _exit(again == block && std::count(again, again + 100, 0) == 100);
                             }),
                testing::ExitedWithCode(1), "^$");
}

TEST(PhkmallocLikeOptionsTest, PagesMayGoBackAndTheCacheMayBeLonger) {
    const auto first_byte_of_freed = [](PagedAllocator &fresh) {
        auto *const block = static_cast<char *>(fresh.allocate(kPage));
        *block = 1;
        fresh.free(block);
        _exit(*block);
    };
    EXPECT_EXIT(with_options("H", first_byte_of_freed), testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(with_options("h", first_byte_of_freed), testing::ExitedWithCode(1), "^$");
    const auto free_pages = [](PagedAllocator &fresh) {
        fresh.free(fresh.allocate(100 * kPage));
        _exit(static_cast<int>(fresh.runs().free_bytes() / kPage));
    };
    EXPECT_EXIT(with_options("", free_pages), testing::ExitedWithCode(16), "^$");
    EXPECT_EXIT(with_options(">>", free_pages), testing::ExitedWithCode(64), "^$");
    EXPECT_EXIT(with_options("<<<<", free_pages), testing::ExitedWithCode(1), "^$");
}

TEST(PhkmallocLikeOptionsTest, ExhaustionMayBeFatal) {
    EXPECT_DEATH(with_options("X", [](PagedAllocator &fresh) { fresh.allocate(kMaxRequest); }), "because of option X");
}

}  // namespace gr::lab::phkmalloc_like_test

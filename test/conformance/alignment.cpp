// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: aligned_alloc, memalign, posix_memalign, valloc, pvalloc.
// Invariant: what they give is aligned as asked, usable, and can be freed and reallocated like any block.
// Must not know: which alignments are served from which part.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>
#include <thread>

namespace gr::conformance {
namespace {

constexpr std::size_t kLargestTried = 4 * kMiB;

TEST(Alignment, EveryPowerOfTwoAtManySizes) {
    Sequence random(38);
    for (std::size_t alignment = 1; alignment <= kLargestTried; alignment *= 2) {
        for (int i = 0; i < 60; ++i) {
            const std::size_t size = random.below(std::size_t{1} << random.below(20));
            void *blocks[3] = {memalign(alignment, size), aligned_alloc(alignment, size), nullptr};
            if (alignment >= sizeof(void *)) {
                ASSERT_EQ(posix_memalign(&blocks[2], alignment, size), 0);
                ASSERT_NE(blocks[2], nullptr);
            }
            for (void *block : blocks) {
                ASSERT_TRUE(block != nullptr || (block == blocks[2] && alignment < sizeof(void *)));
                EXPECT_TRUE(aligned(block, alignment)) << block << ", alignment " << alignment << ", size " << size;
                EXPECT_TRUE(aligned(block, kMinimumAlignment)) << block;
                EXPECT_TRUE(block == nullptr || malloc_usable_size(block) >= size);
                if (block != nullptr) {
                    std::memset(block, 0xC3, malloc_usable_size(block));
                }
                std::free(block);
            }
        }
    }
}

TEST(Alignment, PosixMemalignRejectsOddAlignments) {
    for (std::size_t alignment : {0u, 1u, 2u, 3u, 4u, 7u, 9u, 12u, 24u, 40u, 48u, 63u, 4095u, 4097u, 6144u}) {
        void *untouched = &untouched;
        errno = 1234;
        EXPECT_EQ(posix_memalign(&untouched, alignment, 64), EINVAL) << alignment;
        EXPECT_EQ(untouched, static_cast<void *>(&untouched)) << alignment;
        EXPECT_EQ(errno, 1234) << alignment;
    }
}

TEST(Alignment, OthersRoundOddAlignmentsUp) {
    for (std::size_t alignment : {0u, 3u, 5u, 9u, 17u, 24u, 33u, 100u, 1000u, 4097u, 65537u}) {
        std::size_t rounded = 1;
        while (rounded < alignment) {
            rounded *= 2;
        }
        for (std::size_t size : {std::size_t{1}, std::size_t{100}, 5 * kKiB, 100 * kKiB}) {
            void *block = opaque(memalign(opaque(alignment), size));
            ASSERT_NE(block, nullptr) << "memalign(" << alignment << ")";
            EXPECT_TRUE(aligned(block, rounded)) << block << ", alignment " << alignment;
            std::free(block);
            block = opaque(aligned_alloc(opaque(alignment), size));
            ASSERT_NE(block, nullptr) << "aligned_alloc(" << alignment << ")";
            EXPECT_TRUE(aligned(block, rounded)) << block << ", alignment " << alignment;
            std::free(block);
        }
    }
}

TEST(Alignment, VallocAndPvallocGivePages) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, page - 1, page, page + 1, 10 * page, kMiB + 1}) {
        void *block = opaque(valloc(size));
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(aligned(block, page)) << "valloc(" << size << ")";
        EXPECT_GE(malloc_usable_size(block), size);
        std::memset(block, 1, malloc_usable_size(block));
        std::free(block);
        block = opaque(pvalloc(size));
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(aligned(block, page)) << "pvalloc(" << size << ")";
        EXPECT_GE(malloc_usable_size(block), (size + page - 1) / page * page) << "pvalloc(" << size << ")";
        std::memset(block, 1, malloc_usable_size(block));
        std::free(block);
    }
}

TEST(Alignment, AlignedBlocksAreDistinct) {
    constexpr std::size_t kCount = 64;
    for (std::size_t alignment = 16; alignment <= 256 * kKiB; alignment *= 4) {
        std::vector<void *> blocks;
        for (std::size_t i = 0; i < kCount; ++i) {
            void *block = memalign(alignment, 100 + i);
            ASSERT_NE(block, nullptr);
            fill(block, 100 + i, i);
            blocks.push_back(block);
        }
        for (std::size_t i = 0; i < kCount; ++i) {
            EXPECT_TRUE(filled(blocks[i], 100 + i, i)) << "alignment " << alignment;
            std::free(blocks[i]);
        }
    }
}

TEST(Alignment, AlignedBlocksReallocate) {
    Sequence random(27);
    for (std::size_t alignment = 16; alignment <= kLargestTried; alignment *= 2) {
        for (std::size_t size : {std::size_t{1}, std::size_t{200}, 4 * kKiB, 100 * kKiB}) {
            void *block = memalign(alignment, size);
            ASSERT_NE(block, nullptr);
            fill(block, size, alignment);
            const std::size_t new_size = 1 + random.below(2 * size + 100);
            block = std::realloc(block, new_size);
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(filled(block, std::min(size, new_size), alignment))
                << alignment << ": " << size << " -> " << new_size;
            std::memset(block, 1, malloc_usable_size(block));
            std::free(block);
        }
    }
}

TEST(Alignment, BlocksFreedByAnotherThread) {
    for (int round = 0; round < 20; ++round) {
        std::vector<void *> blocks;
        Sequence random(static_cast<uint64_t>(round));
        for (int i = 0; i < 500; ++i) {
            const std::size_t alignment = std::size_t{8} << random.below(10);
            void *block = nullptr;
            ASSERT_EQ(posix_memalign(&block, alignment, random.below(3000)), 0);
            ASSERT_TRUE(aligned(block, alignment));
            blocks.push_back(block);
        }
        std::thread([&blocks] {
            for (void *block : blocks) {
                std::free(block);
            }
        }).join();
    }
}

}  // namespace
}  // namespace gr::conformance

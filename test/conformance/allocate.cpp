// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: malloc, calloc, free, cfree, free_sized and malloc_usable_size on sizes that can be had.
// Invariant: every block is aligned, its own, writable to its last usable byte, and zero when calloc says so.
// Must not know: how blocks are found.
#include "support.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <algorithm>
#include <set>

namespace gr::conformance {
namespace {

template <typename Function>
Function *entry(const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
}

TEST(Allocate, BlocksAreAlignedTo16) {
    for (std::size_t size : boundary_sizes()) {
        void *block = opaque(std::malloc(size));
        ASSERT_NE(block, nullptr) << size;
        EXPECT_TRUE(aligned(block, kMinimumAlignment)) << "malloc(" << size << ") gave " << block;
        std::free(block);
        block = opaque(std::calloc(size, 1));
        ASSERT_NE(block, nullptr) << size;
        EXPECT_TRUE(aligned(block, kMinimumAlignment)) << "calloc(" << size << ") gave " << block;
        std::free(block);
    }
}

TEST(Allocate, NothingAskedIsAUniqueBlock) {
    std::set<void *> seen;
    for (int i = 0; i < 1000; ++i) {
        for (void *block : {std::malloc(0), std::calloc(0, 8), std::calloc(8, 0), std::realloc(nullptr, 0)}) {
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(seen.insert(block).second) << block << " was given out twice";
        }
    }
    for (void *block : seen) {
        std::free(block);
    }
}

TEST(Allocate, UsableSizeIsWritableToTheLastByte) {
    std::vector<void *> blocks;
    const std::vector<std::size_t> sizes = boundary_sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        void *block = std::malloc(sizes[i]);
        ASSERT_NE(block, nullptr);
        const std::size_t usable = malloc_usable_size(block);
        ASSERT_GE(usable, sizes[i]);
        fill(block, usable, i);
        blocks.push_back(block);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_TRUE(filled(blocks[i], malloc_usable_size(blocks[i]), i)) << "malloc(" << sizes[i] << ")";
        std::free(blocks[i]);
    }
}

TEST(Allocate, UsableSizeOfNothingIsZero) { EXPECT_EQ(malloc_usable_size(nullptr), 0u); }

TEST(Allocate, BlocksDoNotOverlap) {
    struct Extent {
        uintptr_t begin;
        uintptr_t end;
    };
    std::vector<Extent> extents;
    std::vector<void *> blocks;
    for (int round = 0; round < 8; ++round) {
        for (std::size_t size : boundary_sizes()) {
            void *block = std::malloc(size);
            ASSERT_NE(block, nullptr);
            const uintptr_t begin = reinterpret_cast<uintptr_t>(block);
            extents.push_back({begin, begin + std::max<std::size_t>(malloc_usable_size(block), 1)});
            blocks.push_back(block);
        }
    }
    std::sort(extents.begin(), extents.end(), [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < extents.size(); ++i) {
        EXPECT_LE(extents[i - 1].end, extents[i].begin);
    }
    for (void *block : blocks) {
        std::free(block);
    }
}

TEST(Allocate, CallocClearsWhatWasDirtied) {
    for (const bool trim_between : {false, true}) {
        for (std::size_t size : boundary_sizes()) {
            const std::size_t count = std::clamp<std::size_t>(256 * kKiB / (size + 1), 2, 300);
            std::vector<void *> blocks(count);
            for (void *&block : blocks) {
                block = std::malloc(size);
                ASSERT_NE(block, nullptr);
                std::memset(block, 0xA5, malloc_usable_size(block));
            }
            std::for_each(blocks.begin(), blocks.end(), std::free);
            if (trim_between && size % 8 == 0) {
                malloc_trim(0);
            }
            for (void *&block : blocks) {
                block = std::calloc(1, size);
                ASSERT_NE(block, nullptr);
                ASSERT_TRUE(all_zero(block, size)) << "calloc(1, " << size << ") after dirty blocks of that size";
                std::memset(block, 0x5A, malloc_usable_size(block));
            }
            std::for_each(blocks.begin(), blocks.end(), std::free);
        }
    }
}

TEST(Allocate, CallocClearsLargeBlocks) {
    for (std::size_t size : {kMiB, 5 * kMiB, kDirectThreshold - 1, kDirectThreshold, kDirectThreshold + 1, 40 * kMiB}) {
        for (int round = 0; round < 2; ++round) {
            void *block = std::calloc(size / 2, 2);
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(all_zero(block, size / 2 * 2)) << size;
            std::memset(block, 0xFF, malloc_usable_size(block));
            std::free(block);
        }
    }
}

TEST(Allocate, CallocCountsInBothOrders) {
    for (std::size_t count : {1u, 3u, 7u, 100u, 1000u}) {
        for (std::size_t size : {1u, 5u, 24u, 333u}) {
            void *block = std::calloc(count, size);
            ASSERT_NE(block, nullptr);
            EXPECT_GE(malloc_usable_size(block), count * size);
            EXPECT_TRUE(all_zero(block, count * size));
            std::free(block);
        }
    }
}

TEST(Allocate, FreeOfNothingDoesNothing) {
    errno = 1234;
    std::free(opaque<void *>(nullptr));
    EXPECT_EQ(errno, 1234);
}

TEST(Allocate, CfreeFrees) {
    auto *cfree = entry<void(void *)>("cfree");
    if (cfree == nullptr) {
        ASSERT_FALSE(black_box::expect_granary()) << "cfree is not exported";
        GTEST_SKIP() << "this malloc has no cfree";
    }
    for (std::size_t size : class_sizes()) {
        cfree(std::malloc(size));
    }
    cfree(nullptr);
}

TEST(Allocate, FreeSizedFrees) {
    auto *free_sized = entry<void(void *, std::size_t)>("free_sized");
    auto *free_aligned_sized = entry<void(void *, std::size_t, std::size_t)>("free_aligned_sized");
    if (free_sized == nullptr || free_aligned_sized == nullptr) {
        ASSERT_FALSE(black_box::expect_granary()) << "free_sized or free_aligned_sized is not exported";
        GTEST_SKIP() << "this malloc has no free_sized";
    }
    std::vector<std::size_t> sizes = boundary_sizes();
    sizes.push_back(40 * kMiB);
    for (std::size_t size : sizes) {
        errno = 1234;
        free_sized(opaque(std::malloc(size)), size);
        free_sized(opaque(std::calloc(1, size)), size);
        free_sized(opaque(std::realloc(nullptr, size)), size);
        for (std::size_t alignment = 1; alignment <= 4096; alignment *= 4) {
            free_aligned_sized(opaque(std::aligned_alloc(alignment, size)), alignment, size);
        }
        EXPECT_EQ(errno, 1234);
    }
    free_sized(nullptr, 8);
    free_aligned_sized(nullptr, 8, 8);
}

TEST(Allocate, FreedMemoryIsUsedAgain) {
    if (!black_box::granary_in_use()) {
        GTEST_SKIP() << "needs Granary's statistics";
    }
    const uint64_t before = black_box::statistics().heap_bytes;
    for (int round = 0; round < 200; ++round) {
        for (std::size_t size : {100 * kKiB, 1 * kMiB, 3 * kMiB, 20 * kMiB}) {
            void *block = opaque(std::malloc(size));
            ASSERT_NE(block, nullptr);
            std::free(block);
        }
    }
    EXPECT_LE(black_box::statistics().heap_bytes, before + 64 * kMiB);
}

}  // namespace
}  // namespace gr::conformance

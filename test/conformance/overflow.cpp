// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sizes, counts and alignments that no memory can serve.
// Invariant: each gets a null pointer and ENOMEM (or EINVAL, for an alignment no address has), and nothing changes.
// Must not know: where in the library a request is rejected.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

namespace gr::conformance {
namespace {

std::vector<std::size_t> impossible_sizes() {
    std::vector<std::size_t> sizes;
    for (std::size_t distance = 0; distance <= 64 * kKiB; distance = distance * 2 + 1) {
        sizes.insert(sizes.end(), {kPtrdiffMax + 1 + distance, kPtrdiffMax - distance, SIZE_MAX - distance});
    }
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t edge : {page, 2 * page, 64 * kKiB, 2 * kMiB}) {
        sizes.insert(sizes.end(), {SIZE_MAX - edge - 1, SIZE_MAX - edge, SIZE_MAX - edge + 1, SIZE_MAX - edge + 2});
    }
    return sizes;
}

void expect_out_of_memory(void *block, const char *call, std::size_t size, std::size_t alignment = 0) {
    EXPECT_EQ(block, nullptr) << call << ", size " << size << ", alignment " << alignment;
    EXPECT_EQ(errno, ENOMEM) << call << ", size " << size << ", alignment " << alignment;
    errno = 0;
}

TEST(Overflow, ImpossibleSizes) {
    errno = 0;
    for (std::size_t size : impossible_sizes()) {
        expect_out_of_memory(opaque(std::malloc(opaque(size))), "malloc", size);
        expect_out_of_memory(opaque(std::calloc(1, opaque(size))), "calloc", size);
        expect_out_of_memory(opaque(std::calloc(opaque(size), 1)), "calloc", size);
        expect_out_of_memory(opaque(std::realloc(nullptr, opaque(size))), "realloc", size);
        expect_out_of_memory(opaque(reallocarray(nullptr, 1, opaque(size))), "reallocarray", size);
        expect_out_of_memory(opaque(valloc(opaque(size))), "valloc", size);
        expect_out_of_memory(opaque(pvalloc(opaque(size))), "pvalloc", size);
    }
}

TEST(Overflow, ImpossibleSizesAtEveryAlignment) {
    errno = 0;
    for (std::size_t size : impossible_sizes()) {
        for (std::size_t alignment = 1; alignment <= SIZE_MAX / 4 + 1; alignment *= 2) {
            expect_out_of_memory(opaque(memalign(alignment, opaque(size))), "memalign", size, alignment);
            expect_out_of_memory(opaque(aligned_alloc(alignment, opaque(size))), "aligned_alloc", size, alignment);
            if (alignment >= sizeof(void *)) {
                void *untouched = &untouched;
                EXPECT_EQ(posix_memalign(&untouched, alignment, opaque(size)), ENOMEM);
                EXPECT_EQ(untouched, static_cast<void *>(&untouched)) << "size " << size << ", alignment " << alignment;
                errno = 0;
            }
        }
    }
}

TEST(Overflow, HugeAlignmentsOfSmallBlocks) {
    for (std::size_t alignment = kMiB; alignment <= SIZE_MAX / 4 + 1; alignment *= 2) {
        for (std::size_t size : {std::size_t{1}, std::size_t{100}, 64 * kKiB}) {
            errno = 0;
            void *block = opaque(memalign(alignment, size));
            if (block != nullptr) {
                EXPECT_TRUE(aligned(block, alignment)) << block << ", alignment " << alignment;
                std::memset(block, 1, size);
                std::free(block);
            } else {
                EXPECT_EQ(errno, ENOMEM) << "alignment " << alignment;
                EXPECT_GT(alignment, std::size_t{1} << 30) << "refused although any machine has the addresses";
            }
        }
    }
}

TEST(Overflow, AlignmentsBeyondAddresses) {
    for (std::size_t alignment : {SIZE_MAX / 2 + 2, SIZE_MAX - 1, SIZE_MAX}) {
        for (std::size_t size : {std::size_t{0}, std::size_t{64}, kMiB, SIZE_MAX}) {
            errno = 0;
            EXPECT_EQ(opaque(memalign(opaque(alignment), size)), nullptr);
            EXPECT_EQ(errno, EINVAL);
            errno = 0;
            EXPECT_EQ(opaque(aligned_alloc(opaque(alignment), size)), nullptr);
            EXPECT_EQ(errno, EINVAL);
            void *untouched = &untouched;
            EXPECT_EQ(posix_memalign(&untouched, opaque(alignment), size), EINVAL);
            EXPECT_EQ(untouched, static_cast<void *>(&untouched));
        }
    }
}

TEST(Overflow, ReallocKeepsTheOldBlock) {
    for (std::size_t old_size : {std::size_t{1}, std::size_t{1000}, kLargestClass, 70 * kKiB, kMiB, 40 * kMiB}) {
        void *block = std::malloc(old_size);
        ASSERT_NE(block, nullptr);
        fill(block, old_size, old_size);
        errno = 0;
        for (std::size_t size : {kPtrdiffMax + 1, SIZE_MAX - 64 * kKiB, SIZE_MAX - 15, SIZE_MAX}) {
            expect_out_of_memory(opaque(std::realloc(block, opaque(size))), "realloc", size);
            expect_out_of_memory(opaque(reallocarray(block, opaque(size), 1)), "reallocarray", size);
        }
        for (std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{0x100000001}, SIZE_MAX}) {
            expect_out_of_memory(opaque(reallocarray(block, SIZE_MAX / size + 1, opaque(size))), "reallocarray", size);
        }
        EXPECT_TRUE(filled(block, old_size, old_size));
        std::free(block);
    }
}

// Every pair has a product beyond SIZE_MAX, most of them wrapping round to something small.
TEST(Overflow, ProductsThatWrap) {
    std::vector<std::size_t> factors;
    for (unsigned bit = 1; bit < 64; ++bit) {
        const std::size_t power = std::size_t{1} << bit;
        factors.insert(factors.end(), {power - 1, power, power + 1});
    }
    factors.insert(factors.end(), {SIZE_MAX - 1, SIZE_MAX});
    errno = 0;
    for (std::size_t factor : factors) {
        if (factor < 2) {
            continue;
        }
        const std::size_t least = SIZE_MAX / factor + 1;
        for (std::size_t other : {least, least + (least < SIZE_MAX), SIZE_MAX}) {
            expect_out_of_memory(opaque(std::calloc(opaque(factor), other)), "calloc", factor);
            expect_out_of_memory(opaque(std::calloc(other, opaque(factor))), "calloc", factor);
            expect_out_of_memory(opaque(reallocarray(nullptr, opaque(factor), other)), "reallocarray", factor);
        }
        const std::size_t most = SIZE_MAX / factor;
        if (factor * most > kPtrdiffMax) {
            expect_out_of_memory(opaque(std::calloc(opaque(factor), most)), "calloc", factor);
            expect_out_of_memory(opaque(reallocarray(nullptr, opaque(factor), most)), "reallocarray", factor);
        }
    }
}

TEST(Overflow, TheHeapWorksAfterwards) {
    std::vector<void *> blocks;
    for (std::size_t size : boundary_sizes()) {
        EXPECT_EQ(opaque(std::malloc(opaque(SIZE_MAX - size))), nullptr);
        void *block = std::malloc(size);
        ASSERT_NE(block, nullptr);
        std::memset(block, 1, size);
        blocks.push_back(block);
    }
    for (void *block : blocks) {
        std::free(block);
    }
}

}  // namespace
}  // namespace gr::conformance

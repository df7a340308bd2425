// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      gr_aligned_calloc, gr_aligned_realloc and their namesakes on a first-class heap.
// Invariant: every block lies where it was asked to, holds what it held, and a refusal changes nothing.
// Must not know: how aligned blocks are found.
#include "families.hpp"

namespace gr::conformance {
namespace {

template <class Of>
class AlignedResize : public OnEither<Of> {};
TYPED_TEST_SUITE(AlignedResize, Families);

TYPED_TEST(AlignedResize, CallocClearsAndAligns) {
    for (int round = 0; round < 3; ++round) {
        for (std::size_t alignment = 1; alignment <= 4 * kMiB; alignment *= 2) {
            for (std::size_t size :
                 {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}, 70 * kKiB, 3 * kMiB}) {
                void *const block = this->of_.aligned_calloc(alignment, size, 1);
                ASSERT_NE(block, nullptr) << size << " by " << alignment;
                ASSERT_TRUE(aligned(block, alignment)) << size << " by " << alignment;
                ASSERT_GE(this->of_.usable(block), size);
                ASSERT_TRUE(all_zero(block, size)) << size << " by " << alignment;
                std::memset(block, 0xff, size);
                this->of_.release(block);
            }
        }
    }
    void *const large = this->of_.aligned_calloc(4096, 5 * kMiB, 9);
    EXPECT_TRUE(aligned(large, 4096));
    EXPECT_TRUE(all_zero(large, 45 * kMiB));
    this->of_.release(large);
}

TYPED_TEST(AlignedResize, ReallocKeepsTheAlignmentAndWhatTheBlockHolds) {
    for (std::size_t alignment :
         {std::size_t{1}, std::size_t{16}, std::size_t{64}, std::size_t{4096}, 64 * kKiB, 4 * kMiB}) {
        std::size_t kept = 10;
        void *block = this->of_.aligned_realloc(nullptr, alignment, kept);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(aligned(block, alignment));
        fill(block, kept, alignment);
        for (std::size_t size :
             {std::size_t{1}, std::size_t{100}, std::size_t{5000}, 40 * kKiB, 300 * kKiB, 3 * kMiB, 34 * kMiB,
              40 * kMiB, 36 * kMiB, 2 * kMiB, 100 * kKiB, std::size_t{900}, std::size_t{500}, std::size_t{1}}) {
            block = this->of_.aligned_realloc(block, alignment, size);
            ASSERT_NE(block, nullptr) << size << " by " << alignment;
            ASSERT_TRUE(aligned(block, alignment)) << size << " by " << alignment;
            ASSERT_GE(this->of_.usable(block), size);
            ASSERT_TRUE(filled(block, std::min(kept, size), alignment)) << size << " by " << alignment;
            kept = size;
            fill(block, kept, alignment);
        }
        this->of_.release(block);
    }
}

// Of any old block, wherever it lies.
TYPED_TEST(AlignedResize, ReallocAlignsWhatWasNot) {
    for (std::size_t size : {std::size_t{24}, std::size_t{3000}, 40 * kKiB, kMiB, 33 * kMiB}) {
        for (std::size_t alignment : {std::size_t{64}, std::size_t{4096}, 64 * kKiB, 4 * kMiB}) {
            for (std::size_t wanted : {size / 2, size, size * 2}) {
                void *const first = opaque(this->of_.allocate(size));
                void *const second = opaque(this->of_.allocate(size));
                fill(second, size, 6);
                void *const block = this->of_.aligned_realloc(second, alignment, wanted);
                ASSERT_NE(block, nullptr);
                EXPECT_TRUE(aligned(block, alignment)) << size << " by " << alignment;
                EXPECT_TRUE(filled(block, std::min(size, wanted), 6)) << size << " by " << alignment;
                this->of_.release(block);
                this->of_.release(first);
            }
        }
    }
}

TYPED_TEST(AlignedResize, ADirectBlockOfManyPagesAlignmentStays) {
    void *const block = this->of_.aligned_calloc(2 * kMiB, 64, kMiB);
    EXPECT_EQ(this->of_.aligned_realloc(block, 2 * kMiB, 40 * kMiB), block);
    EXPECT_EQ(this->of_.usable(block), 40 * kMiB);
    EXPECT_EQ(this->of_.aligned_realloc(block, 2 * kMiB, 60 * kMiB), block) << "its own old place is free";
    this->of_.release(block);
}

TYPED_TEST(AlignedResize, ReallocOfNothingAllocatesAndToNothingReleases) {
    const uint64_t live = this->of_.statistics().live_blocks;
    void *const block = this->of_.aligned_realloc(nullptr, 256, 1000);
    EXPECT_TRUE(aligned(block, 256));
    EXPECT_EQ(this->of_.statistics().live_blocks, live + 1);
    errno = 1234;
    EXPECT_EQ(opaque(this->of_.aligned_realloc(block, 256, 0)), nullptr);
    EXPECT_EQ(errno, 1234);
    EXPECT_EQ(this->of_.statistics().live_blocks, live);
    void *const empty = this->of_.aligned_realloc(nullptr, 256, 0);
    EXPECT_TRUE(aligned(empty, 256));
    EXPECT_EQ(this->of_.statistics().live_blocks, live + 1);
    this->of_.release(empty);
}

TYPED_TEST(AlignedResize, AnAlignmentThatIsNoPowerOfTwoIsRefused) {
    void *const old = opaque(this->of_.allocate(100));
    fill(old, 100, 7);
    for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, std::size_t{4097}, SIZE_MAX}) {
        for (void *block : {old, static_cast<void *>(nullptr)}) {
            errno = 0;
            EXPECT_EQ(this->of_.aligned_realloc(block, opaque(alignment), 200), nullptr);
            EXPECT_EQ(errno, EINVAL);
            errno = 0;
            EXPECT_EQ(this->of_.aligned_realloc(block, opaque(alignment), 0), nullptr);
            EXPECT_EQ(errno, EINVAL) << "and nothing is released";
        }
        errno = 0;
        EXPECT_EQ(this->of_.aligned_calloc(opaque(alignment), 10, 10), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
    EXPECT_TRUE(filled(old, 100, 7));
    this->of_.release(old);
}

TYPED_TEST(AlignedResize, WhatNoMemoryHoldsIsRefused) {
    for (std::size_t size : {std::size_t{100}, kMiB, 64 * kMiB}) {
        void *const old = opaque(this->of_.allocate(size));
        fill(old, size, 8);
        for (std::size_t wanted : {kPtrdiffMax, kPtrdiffMax + 1, SIZE_MAX}) {
            for (std::size_t alignment : {std::size_t{1}, std::size_t{64}, kMiB}) {
                errno = 0;
                EXPECT_EQ(this->of_.aligned_realloc(old, alignment, opaque(wanted)), nullptr);
                EXPECT_EQ(errno, ENOMEM);
                errno = 0;
                EXPECT_EQ(this->of_.aligned_calloc(alignment, opaque(wanted), 1), nullptr);
                EXPECT_EQ(errno, ENOMEM);
            }
        }
        EXPECT_TRUE(filled(old, size, 8)) << "the old block stands";
        this->of_.release(old);
    }
    errno = 0;
    EXPECT_EQ(this->of_.aligned_calloc(64, opaque(SIZE_MAX / 2 + 2), 2), nullptr) << "the product overflows";
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(this->of_.aligned_calloc(opaque(SIZE_MAX / 2 + 1), 1, 1), nullptr) << "there is no such address";
    EXPECT_EQ(errno, ENOMEM);
}

TYPED_TEST(AlignedResize, SuccessKeepsErrno) {
    errno = 1234;
    for (std::size_t alignment : {std::size_t{1}, std::size_t{64}, kMiB}) {
        void *block = this->of_.aligned_calloc(alignment, 10, 10);
        for (std::size_t size : {kMiB, 64 * kMiB, std::size_t{10}})
            block = this->of_.aligned_realloc(block, alignment, size);
        this->of_.release(block);
    }
    EXPECT_EQ(errno, 1234);
}

}  // namespace
}  // namespace gr::conformance

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: errno around a million random operations, giving memory back included.
// Invariant: free never changes errno, nor does an allocation that succeeds.
// Must not know: which operations enter the kernel.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

namespace gr::conformance {
namespace {

constexpr int kMarker = 1234;

std::size_t random_size(Sequence &random) {
    const uint64_t kind = random.below(1000);
    if (kind < 950) {
        return random.below(1 + random.below(2048));
    }
    return kind < 999 ? random.below(64 * kKiB) : random.below(4 * kMiB);
}

void *allocate_somehow(Sequence &random, void *old) {
    const std::size_t size = random_size(random);
    switch (random.below(6)) {
        case 0:
            return std::realloc(old, size + 1);
        case 1:
            std::free(old);
            return std::calloc(1, size);
        case 2:
            std::free(old);
            return memalign(std::size_t{16} << random.below(8), size);
        default:
            std::free(old);
            return std::malloc(size);
    }
}

TEST(ErrnoKept, OverManyOperations) {
    std::vector<void *> blocks(2000, nullptr);
    Sequence random(40);
    for (int step = 0; step < 300000; ++step) {
        void *&slot = blocks[random.below(blocks.size())];
        errno = kMarker;
        slot = allocate_somehow(random, slot);
        ASSERT_NE(slot, nullptr);
        ASSERT_EQ(errno, kMarker) << "step " << step;
        if (step % 15000 == 0) {
            errno = kMarker;
            malloc_trim(0);
            ASSERT_EQ(errno, kMarker) << "malloc_trim at step " << step;
        }
    }
    for (void *block : blocks) {
        errno = kMarker;
        std::free(block);
        ASSERT_EQ(errno, kMarker);
    }
}

TEST(ErrnoKept, LargeBlocks) {
    for (std::size_t size : {kMiB, 8 * kMiB, 20 * kMiB, kDirectThreshold + 1, 100 * kMiB}) {
        errno = kMarker;
        void *block = opaque(std::malloc(size));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(errno, kMarker);
        block = opaque(std::realloc(block, size + size / 2));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(errno, kMarker);
        std::free(block);
        EXPECT_EQ(errno, kMarker);
    }
}

TEST(ErrnoKept, InFreesOfOneClassFromFullToEmpty) {
    for (std::size_t size : {std::size_t{16}, std::size_t{1024}, 8 * kKiB, 60 * kKiB}) {
        std::vector<void *> blocks(32 * kMiB / size / 4);
        for (void *&block : blocks) {
            errno = kMarker;
            block = std::malloc(size);
            ASSERT_NE(block, nullptr);
            ASSERT_EQ(errno, kMarker);
            *static_cast<char *>(block) = 1;
        }
        for (void *block : blocks) {
            errno = kMarker;
            std::free(block);
            ASSERT_EQ(errno, kMarker);
        }
    }
}

}  // namespace
}  // namespace gr::conformance

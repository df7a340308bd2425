// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: realloc and reallocarray across every boundary, up and down.
// Invariant: the content up to the smaller of both sizes survives; realloc(p, 0) frees.
// Must not know: when a block moves and when it grows in place.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <algorithm>

namespace gr::conformance {
namespace {

void reallocate_once(std::size_t from, std::size_t to) {
    void *block = std::malloc(from);
    ASSERT_NE(block, nullptr);
    fill(block, from, from ^ to);
    block = to == 0 ? block : std::realloc(block, to);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(aligned(block, kMinimumAlignment));
    EXPECT_GE(malloc_usable_size(block), to);
    EXPECT_TRUE(filled(block, std::min(from, to), from ^ to)) << from << " -> " << to;
    std::memset(block, 0x3C, malloc_usable_size(block));
    std::free(block);
}

TEST(Reallocate, EveryBoundaryUpAndDown) {
    for (std::size_t from : boundary_sizes()) {
        for (std::size_t to : {from + 1, from + 16, from + from / 8, from * 2, from * 3 + 100, from / 2, from / 10}) {
            reallocate_once(from, to);
        }
        reallocate_once(from, from == 0 ? 1 : from - 1);
        reallocate_once(from, from);
        reallocate_once(from, 1);
    }
}

TEST(Reallocate, LargeBlocksUpAndDown) {
    const std::size_t sizes[] = {100, 40 * kKiB, 64 * kKiB, 3 * kMiB, kDirectThreshold - 1, kDirectThreshold + 1};
    for (std::size_t from : sizes) {
        for (std::size_t to : sizes) {
            reallocate_once(from, to);
        }
    }
    reallocate_once(kDirectThreshold + 1, 48 * kMiB);
    reallocate_once(48 * kMiB, kDirectThreshold + 1);
}

TEST(Reallocate, GrowsByteByByte) {
    char *text = nullptr;
    std::size_t usable = 0;
    for (std::size_t size = 1; size <= 20000; ++size) {
        text = static_cast<char *>(std::realloc(text, size));
        ASSERT_NE(text, nullptr);
        ASSERT_GE(malloc_usable_size(text), std::max(size, usable)) << "usable size shrank while growing to " << size;
        usable = malloc_usable_size(text);
        text[size - 1] = static_cast<char>(size * 31);
    }
    for (std::size_t size = 1; size <= 20000; ++size) {
        ASSERT_EQ(text[size - 1], static_cast<char>(size * 31)) << size;
    }
    std::free(text);
}

// The pattern of growing arrays: use all that is usable, then ask for a little more.
TEST(Reallocate, GrowsThroughTheUsableSize) {
    void *block = std::malloc(1);
    std::size_t usable = malloc_usable_size(block);
    fill(block, usable, 7);
    while (usable < 48 * kMiB) {
        block = std::realloc(block, usable + 1 + usable / 5);
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(filled(block, usable, 7)) << usable;
        ASSERT_GT(malloc_usable_size(block), usable);
        usable = malloc_usable_size(block);
        fill(block, usable, 7);
    }
    std::free(block);
}

TEST(Reallocate, OfNothingAllocates) {
    for (std::size_t size : boundary_sizes()) {
        void *block = std::realloc(nullptr, size);
        ASSERT_NE(block, nullptr);
        EXPECT_GE(malloc_usable_size(block), size);
        std::free(block);
    }
}

TEST(Reallocate, ToNothingFrees) {
    for (std::size_t size : boundary_sizes()) {
        void *block = std::malloc(size);
        ASSERT_NE(block, nullptr);
        errno = 1234;
        EXPECT_EQ(opaque(std::realloc(block, 0)), nullptr) << size;
        EXPECT_EQ(errno, 1234) << size;
    }
    if (!black_box::granary_in_use()) {
        return;
    }
    const uint64_t live = black_box::statistics().live_blocks;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(opaque(std::realloc(opaque(std::malloc(500)), 0)), nullptr);
        EXPECT_EQ(opaque(reallocarray(opaque(std::malloc(500)), 0, 8)), nullptr);
        EXPECT_EQ(opaque(reallocarray(opaque(std::malloc(500)), 8, 0)), nullptr);
    }
    EXPECT_EQ(black_box::statistics().live_blocks, live);
}

TEST(Reallocate, ReallocarrayMultiplies) {
    constexpr std::size_t kStep = 7;
    std::size_t *numbers = nullptr;
    std::size_t filled_up_to = 0;
    for (std::size_t count = 1; count <= 5000; count += kStep) {
        numbers = static_cast<std::size_t *>(reallocarray(numbers, count, sizeof *numbers));
        ASSERT_NE(numbers, nullptr);
        ASSERT_GE(malloc_usable_size(numbers), count * sizeof *numbers);
        for (; filled_up_to < count; ++filled_up_to) numbers[filled_up_to] = filled_up_to;
    }
    for (std::size_t i = 0; i < filled_up_to; ++i) ASSERT_EQ(numbers[i], i);
    std::free(numbers);
}

TEST(Reallocate, RandomWalk) {
    struct Slot {
        void *block = nullptr;
        std::size_t size = 0;
        uint64_t key = 0;
    };
    std::vector<Slot> slots(64);
    Sequence random(5);
    for (uint64_t step = 1; step <= 40000; ++step) {
        Slot &slot = slots[random.below(slots.size())];
        const std::size_t size = 1 + random.below(std::size_t{16} << random.below(13));
        void *block = std::realloc(slot.block, size);
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(filled(block, std::min(size, slot.size), slot.key));
        fill(block, size, step);
        slot = {block, size, step};
    }
    for (Slot &slot : slots) {
        std::free(slot.block);
    }
}

}  // namespace
}  // namespace gr::conformance

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what blocks hold when they are handed out, resized and freed, by GRANARY_JUNK and GRANARY_ZERO.
// Invariant: everything that is freed stays mapped, so that it can be looked at.
// Must not know: the C library's names.
#include "instance/filling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bits.hpp"
#include "instance/fresh_instance.hpp"
#include "platform/memory.hpp"

namespace gr::filling_test {

using fake::FreshInstance;

constexpr unsigned char kProgram = 0x77;  // what the program writes
constexpr std::size_t kDirect = 8 * kMiB;

// A class of each kind, runs, direct blocks, and what lies beside their bounds.
constexpr std::size_t kSizes[] = {0,     1,     15,    16,    17,    100,    1024, 1025,    3000,        30000,
                                  32767, 32768, 32769, 65536, 65537, 200000, kMiB, kDirect, kDirect + 1, 20 * kMiB};
static_assert(kFineLimit == 1024 && kClassLimit == 32768 && kUnitBytes == 65536);

class FillingTest : public testing::Test {
  protected:
    static FreshInstance fresh(const char *junk, const char *zero) {
        return FreshInstance(
            {{"GRANARY_JUNK", junk}, {"GRANARY_ZERO", zero}, {"GRANARY_RETAIN", "1G"}, {"GRANARY_DIRECT", "8M"}});
    }
};

bool holds(const void *block, std::size_t begin, std::size_t end, unsigned char byte) {
    const auto *const p = static_cast<const unsigned char *>(block);
    return std::all_of(p + begin, p + std::max(begin, end), [=](unsigned char c) { return c == byte; });
}

void *written(void *block, std::size_t size) { return std::memset(block, kProgram, size); }

// Leaves the program's bytes in memory that is handed out again.
void use_memory(FreshInstance &instance) {
    for (unsigned round = 0; round < 2; ++round) {
        std::vector<void *> blocks;
        for (const std::size_t size : kSizes) {
            for (unsigned i = 0; i < 3; ++i) blocks.push_back(instance->allocate(size));
        }
        for (void *const p : blocks) written(p, instance->usable_size("test", p));
        for (void *const p : blocks) instance->free("test", p);
    }
}

void expect_new(FreshInstance &instance, void *p, std::size_t zeroes, unsigned char byte) {
    ASSERT_NE(p, nullptr);
    const std::size_t usable = instance->usable_size("test", p);
    EXPECT_TRUE(holds(p, 0, zeroes, 0)) << zeroes << " of " << usable;
    EXPECT_TRUE(holds(p, zeroes, usable, byte)) << zeroes << " of " << usable;
    written(p, usable);
    instance->free("test", p);
}

TEST_F(FillingTest, NewBlocksAreFilledToTheirLastUsableByte) {
    struct Case {
        const char *junk;
        const char *zero;
        unsigned char byte;
    };
    for (const Case &c : {Case{"allocate", "off", kJunkAllocated}, Case{"all", "off", kJunkAllocated},
                          Case{"off", "on", 0}, Case{"all", "on", 0}}) {
        FreshInstance instance = fresh(c.junk, c.zero);
        use_memory(instance);
        for (const std::size_t size : kSizes) {
            SCOPED_TRACE(size);
            expect_new(instance, instance->allocate(size), 0, c.byte);
            expect_new(instance, instance->allocate_zeroed(size), size, c.byte);
            for (const std::size_t alignment : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, kMiB, 4 * kMiB})
                expect_new(instance, instance->allocate_aligned(size, alignment), 0, c.byte);
        }
    }
}

TEST_F(FillingTest, FreedBlocksAreFilledAndStaySo) {
    for (const char *const junk : {"free", "all"}) {
        FreshInstance instance = fresh(junk, "off");
        const bool fills_new = instance->filling().fills_new();
        for (const std::size_t size : kSizes) {
            SCOPED_TRACE(size);
            void *const p = instance->allocate(size);
            const std::size_t usable = instance->usable_size("test", p);
            written(p, usable);
            const bool is_direct = size > kDirect;
            instance->free("test", p);
            if (is_direct) continue;
            EXPECT_TRUE(holds(p, 0, usable, kJunkFreed));
            void *const again = instance->allocate(size);
            EXPECT_EQ(again, p);
            EXPECT_TRUE(holds(again, 0, usable, fills_new ? kJunkAllocated : kJunkFreed));
            instance->free("test", again);
        }
    }
}

TEST_F(FillingTest, OffNothingIsWritten) {
    FreshInstance instance = fresh("off", "off");
    EXPECT_FALSE(instance->filling().is_on());
    for (const std::size_t size : kSizes) {
        if (size > kDirect) continue;
        void *const p = instance->allocate(size);
        const std::size_t usable = instance->usable_size("test", p);
        written(p, usable);
        instance->free("test", p);
        EXPECT_TRUE(holds(p, 0, usable, kProgram)) << size;
    }
}

TEST_F(FillingTest, ResizingFillsWhatIsNewAndWhatIsGivenUp) {
    for (const char *const junk : {"allocate", "free", "all"}) {
        FreshInstance instance = fresh(junk, "off");
        const Filling &filling = instance->filling();
        for (const std::size_t from : kSizes) {
            for (const std::size_t to : kSizes) {
                SCOPED_TRACE(testing::Message() << junk << ": " << from << " to " << to);
                void *const p = instance->allocate(from);
                const std::size_t before = instance->usable_size("test", p);
                written(p, before);
                void *const q = instance->resize("test", p, to);
                ASSERT_NE(q, nullptr);
                const std::size_t after = instance->usable_size("test", q);
                const std::size_t kept = std::min(before, to);
                EXPECT_TRUE(holds(q, 0, kept, kProgram));
                EXPECT_TRUE(!filling.fills_new() || holds(q, kept, after, kJunkAllocated));
                // Where the block was, or was longer, unless the kernel has that memory.
                if (filling.fills_freed() && before <= kDirect && from <= kDirect) {
                    EXPECT_TRUE(holds(p, q == p ? after : 0, before, kJunkFreed));
                    if (q == p && !filling.fills_new()) {
                        EXPECT_TRUE(holds(q, kept, std::min(before, after), kJunkFreed));
                    }
                }
                instance->free("test", q);
            }
        }
    }
}

// A direct block's pages go to the kernel.
TEST_F(FillingTest, WhatARunGivesUpWhereItLiesIsFilled) {
    for (const char *const junk : {"free", "all"}) {
        FreshInstance instance = fresh(junk, "off");
        void *const p = instance->allocate(10 * kUnitBytes);
        written(p, 10 * kUnitBytes);
        EXPECT_EQ(instance->resize_in_place("test", p, 1, 4 * kUnitBytes - 100), 4 * kUnitBytes);
        EXPECT_TRUE(holds(p, 0, 4 * kUnitBytes, kProgram));
        EXPECT_TRUE(holds(p, 4 * kUnitBytes, 10 * kUnitBytes, kJunkFreed)) << junk;
        instance->free("test", p);
    }
}

TEST_F(FillingTest, NewlyUsableBytesAreZeroAlsoAfterTheBlockWasSmaller) {
    FreshInstance instance = fresh("free", "on");
    use_memory(instance);
    for (const std::size_t size : kSizes) {
        if (size < 16) continue;
        SCOPED_TRACE(size);
        void *p = instance->allocate(size);
        std::size_t usable = instance->usable_size("test", p);
        written(p, usable);
        p = instance->resize("test", p, size - size / 4);
        p = instance->resize("test", p, size + size / 2);
        usable = instance->usable_size("test", p);
        EXPECT_TRUE(holds(p, 0, size - size / 4, kProgram));
        EXPECT_TRUE(holds(p, size - size / 4, usable, 0));
        instance->free("test", p);
    }
}

TEST_F(FillingTest, EntriesServeNothingThatIsToBeFilled) {
    const auto &state = platform::gr_sequence_state;
    bool has_sequences = false;
    {
        FreshInstance instance = fresh("off", "off");
        has_sequences = instance->heaps().uses_sequences();
        EXPECT_EQ(state.size_limit != 0, has_sequences);
        EXPECT_EQ(state.fine_limit != 0, has_sequences);
    }
    {
        FreshInstance instance = fresh("allocate", "off");
        EXPECT_EQ(state.size_limit, 0U);
        EXPECT_EQ(state.fine_limit != 0, has_sequences);
    }
    {
        FreshInstance instance = fresh("free", "off");
        EXPECT_EQ(state.size_limit != 0, has_sequences);
        // The region grows meanwhile.
        instance->free("test", instance->allocate(4 * kMiB));
        EXPECT_EQ(state.fine_limit, 0U);
    }
    {
        FreshInstance instance = fresh("all", "on");
        instance->let_entry_allocate(true);
        EXPECT_EQ(state.size_limit, 0U);
        EXPECT_EQ(state.fine_limit, 0U);
    }
}

TEST_F(FillingTest, FirstClassHeapsFollowAndKindsDoNot) {
    FreshInstance first = fresh("all", "off");
    Instance beside;
    ASSERT_TRUE(beside.start_beside(*first, 64 * kMiB, "test"));
    void *const p = beside.allocate(100);
    EXPECT_TRUE(holds(p, 0, 112, kJunkAllocated));
    beside.free("test", p);
    EXPECT_TRUE(holds(p, 0, 112, kJunkFreed));
    beside.end();

    constexpr std::size_t kBytes = 256 * kMiB;
    auto *const range = static_cast<char *>(platform::reserve(2 * kBytes));
    ASSERT_NE(range, nullptr);
    auto *const place = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(range), kBytes));
    platform::SlabsPlace found;
    auto kind = std::make_unique<Instance>();
    ASSERT_TRUE(kind->start_within(first->options(), {place, kBytes, SIZE_MAX}, "test", &found));
    EXPECT_FALSE(kind->filling().is_on());
    platform::unmap(range, 2 * kBytes);
}

using FillingDeathTest = FillingTest;

TEST_F(FillingDeathTest, WhatIsNoBlockIsToldAndNotWrittenTo) {
    FreshInstance instance = fresh("all", "off");
    for (const std::size_t size : {std::size_t{64}, std::size_t{5000}, std::size_t{200000}}) {
        char *const p = static_cast<char *>(instance->allocate(size));
        char *const next = static_cast<char *>(instance->allocate(size));
        EXPECT_EXIT(instance->free("free", p + 32), testing::KilledBySignal(SIGABRT), "inside a block: it starts at");
        EXPECT_EXIT(instance->free("free", p + 1), testing::KilledBySignal(SIGABRT), "inside a block: it starts at");
        instance->free("free", next);
        instance->free("free", p);
        EXPECT_EXIT(instance->free("free", p), testing::KilledBySignal(SIGABRT),
                    size > kClassLimit ? "a large block that is already free" : "freed twice, a block of");
    }
}

}  // namespace gr::filling_test

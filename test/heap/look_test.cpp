// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pointers to the inside of a block that lie where no flush comes: what finds them, and after how many frees.
// Invariant: nothing here trims, so only a look finds a fault.
// Must not know: requests in bytes.
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>
#include <string>
#include <vector>

#include "heap/world.hpp"

namespace gr::look_test {

using fake::World;

std::string interior(const void *p, const void *start, std::size_t size) {
    std::ostringstream out;
    out << "^granary: free\\(" << p << "\\): inside a block: it starts at " << start << " and has " << size
        << " bytes; aborting\n$";
    return out.str();
}

#define EXPECT_ABORT(statement, message) EXPECT_EXIT(statement, testing::KilledBySignal(SIGABRT), message)

// A block whose inside lies at the bottom of its magazine once it is freed, and others of its class.
struct Stage {
    World &world;
    ClassIndex c;
    char *block = static_cast<char *>(world.allocate_in(0, c));
    std::vector<void *> others{};

    void allocate(std::size_t count) {
        while (others.size() < count || world.in_magazine(0, c) != 0) others.push_back(world.allocate_in(0, c));
    }
    void free_inside_then(std::size_t count) {
        world.free(block + kFineStep);
        for (std::size_t i = 0; i < count; ++i) world.free(others[i]);
    }
    std::string message() const { return interior(block + kFineStep, block, shape_of(c).size); }
};

// By then the magazine is full, and each flush from there on looks at so many of those that stay.
std::size_t frees_to_find(ClassIndex c) {
    const std::size_t slots = shape_of(c).magazine_slots;
    return slots + kLookParts * slots;
}

// Those whose superblocks have several units are looked at in another way.
std::vector<ClassIndex> classes() {
    std::vector<ClassIndex> some;
    for (const unsigned size : {32U, 64U, 208U, 1024U, 2048U, 4096U}) some.push_back(class_of(size));
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        if (shape_of(ClassIndex(c)).units > 1) some.push_back(ClassIndex(c));
    }
    return some;
}

TEST(LookDeathTest, WhatNoFlushTakesIsFoundAfterABoundedNumberOfFrees) {
    for (const ClassIndex c : classes()) {
        for (const std::size_t below : {0U, shape_of(c).magazine_slots / 2 - 1}) {
            World world({.chunks = 32});
            Stage stage{world, c};
            stage.allocate(below + frees_to_find(c));
            EXPECT_ABORT(
                {
                    for (; stage.others.size() > frees_to_find(c); stage.others.pop_back())
                        world.free(stage.others.back());
                    stage.free_inside_then(frees_to_find(c));
                },
                stage.message())
                << "class " << c.value << ", above " << below;
        }
    }
}

// The blocks around it are free and their superblock is gone. Nothing there is a block any more.
TEST(LookDeathTest, WhatOutlivedItsSuperblockIsFoundToo) {
    constexpr ClassIndex kClass = class_of(208);
    World world;
    Stage stage{world, kClass};
    const Superblock *const s = world.superblock_of(stage.block);
    stage.allocate(frees_to_find(kClass) + s->shape().blocks);
    std::ostringstream foreign;
    foreign << "^granary: free\\(" << static_cast<void *>(stage.block + kFineStep)
            << "\\): not a block of this heap: a foreign pointer, or a large block that is already free; aborting\n$";
    EXPECT_ABORT(
        {
            world.free(stage.block + kFineStep);
            world.free_remotely(stage.block);
            std::vector<void *> elsewhere;
            for (void *const p : stage.others) {
                if (world.superblock_of(p) != s) {
                    elsewhere.push_back(p);
                } else {
                    world.free_remotely(p);
                }
            }
            for (void *const p : elsewhere) world.free(p);
        },
        foreign.str());
}

// Another class asks for more than the budget has, until the quiet one's share is halved.
TEST(LookDeathTest, AMagazineThatBecomesNarrowIsLookedAtWhole) {
    constexpr ClassIndex kQuiet(8);
    constexpr ClassIndex kBusy(kFineClasses);
    World world({.budget = 16 * kKiB});
    Stage stage{world, kQuiet};
    stage.allocate(kMagazineNarrowSlots * 2);
    EXPECT_ABORT(
        {
            stage.free_inside_then(kMagazineNarrowSlots * 2 - 1);
            const std::uint32_t wide = world.in_magazine(0, kQuiet);
            for (unsigned i = 0; i < kDenialsForMore && world.in_magazine(0, kQuiet) == wide; ++i)
                world.allocate_in(0, kBusy);
        },
        stage.message());
}

// The sender finds it: no heap opens the message here.
TEST(LookDeathTest, NoneEntersAMessage) {
    constexpr ClassIndex kClass = class_of(208);
    World world;
    char *const p = static_cast<char *>(world.allocate_in(1, kClass));
    Slab sender(world.region.readable_table(), 0, nullptr);
    ASSERT_TRUE(sender.set_capacity(kRemoteMagazine, kRemoteSlotsBegin, kMagazineFirstSlots));
    ASSERT_TRUE(sender.push(kRemoteMagazine, p + kFineStep));
    EXPECT_ABORT(
        {
            for (const std::uint32_t busy : {1U, 2U}) world.hold(busy);
            world.heaps.reclaim();
        },
        interior(p + kFineStep, p, shape_of(kClass).size));
}

// The position goes round and round: whatever the magazines held, no error was reported.
TEST(Look, FindsNothingWrongWithBlocks) {
    for (std::uint32_t i = 1; i < kClassCount; ++i) {
        const ClassIndex c(i);
        World world({.chunks = 32});
        std::vector<void *> blocks;
        while (blocks.size() < std::size_t{4} * shape_of(c).magazine_slots) blocks.push_back(world.allocate_in(0, c));
        for (void *const p : blocks) {
            const std::uint32_t before = world.in_magazine(0, c);
            world.free(p);
            ASSERT_GE(world.in_magazine(0, c), before / 2) << "class " << i << ": a suspicion flushed the magazine";
        }
        EXPECT_TRUE(world.is_valid());
        world.heaps.reclaim();
        EXPECT_EQ(world.pages.used_bytes(), 0U);
    }
}

}  // namespace gr::look_test

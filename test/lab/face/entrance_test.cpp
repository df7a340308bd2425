// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a signal handler that forks, frees a block and asks whether it may enter the allocator, at every instruction of
//    a call and of a fork.
// Invariant: the processor traps after each instruction, so no instruction is left out.
// Must not know: what an allocator does.
#include <gtest/gtest.h>

#include <array>

#include "face/entrance.hpp"
#include "fake/single_steps.hpp"

namespace gr::lab::entrance_test {

// One lock, which is taken twice, or let go while it is free, only by mistake.
struct WatchedAllocator {
    bool is_locked = false;
    unsigned mistakes = 0;
    unsigned freed = 0;

    void free(void *) { ++freed; }
    void lock() {
        if (is_locked) ++mistakes;
        is_locked = true;
    }
    void unlock() {
        if (!is_locked) ++mistakes;
        is_locked = false;
    }
};
constinit WatchedAllocator allocator;
using Door = Entrance<allocator>;

void free_block(void *block) {
    const Door::Inside inside;
    inside.is_first() ? allocator.free(block) : Door::free_later(block);
}

struct Seen {
    unsigned instructions = 0;
    unsigned inside = 0;         // of them, those at which the thread was inside
    unsigned without_locks = 0;  // those at which a child of the handler's fork could enter without the locks
};
Seen seen;
std::array<FreeBlock, 4096> blocks;

void after_instruction(int, siginfo_t *, void *) {
    Door::lock();
    const bool has_locks = allocator.is_locked;
    Door::unlock();
    {
        const Door::Inside inside;
        if (!inside.is_first()) ++seen.inside;
        if (inside.is_first() && !has_locks) ++seen.without_locks;
    }
    free_block(&blocks[seen.instructions++ % blocks.size()]);
}

template <class Code>
void expect_handlers_served(Code code) {
    if (!fake::kHasTrapFlag) GTEST_SKIP() << "only x86 lets a program ask for a trap after each instruction";
    seen = {};
    allocator = {};
    fake::run_by_steps(after_instruction, code);
    EXPECT_GT(seen.inside, 0U);
    EXPECT_GT(seen.instructions, seen.inside);
    EXPECT_LT(seen.instructions, blocks.size()) << "a block was freed twice";
    EXPECT_EQ(seen.without_locks, 0U);
    EXPECT_EQ(allocator.mistakes, 0U);
    EXPECT_FALSE(allocator.is_locked);
    EXPECT_EQ(allocator.freed, seen.instructions);
    EXPECT_TRUE(Door::Inside().is_first());
}

TEST(Entrance, ServesAHandlerAtEveryInstructionOfACall) {
    expect_handlers_served([] { const Door::Inside inside; });
}

TEST(Entrance, ServesAHandlerAtEveryInstructionOfAFork) {
    expect_handlers_served([] {
        Door::lock();
        Door::unlock();
    });
}

TEST(Entrance, ServesAHandlerAtEveryInstructionOfAForkInside) {
    expect_handlers_served([] {
        const Door::Inside inside;
        Door::lock();
        Door::unlock();
    });
}

}  // namespace gr::lab::entrance_test

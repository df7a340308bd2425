// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: for each block the stack of calls that allocated it.
// Invariant: the stack's number lies apart from the block. Only the thread that holds the block writes the number, so it
//    belongs to the last allocation.
// Must not know: what the stacks are used for.
#pragma once

#include "collector/block_table.hpp"
#include "gcmalloc/unloaded_modules.hpp"
#include "platform/unwind/stack_walk.hpp"
#include "profile/stacks.hpp"

namespace gr {

class Origins {
  public:
    constexpr Origins() = default;

    // Called once, before the first block. false: there is no memory.
    bool initialise();
    // Called by the thread that has allocated the block.
    void note(const void *p);
    StackNumber of(const Superblock *s, BlockIndex i) const {
        return numbers_.covers(s->unit) ? numbers_.row(s)[i.value].load(std::memory_order_relaxed) : 0;
    }
    const Stacks &stacks() const { return stacks_; }

    // Where the part of the stack begins that the thread that ends the process still uses; nullptr: not known.
    const char *program_stack() { return walk_.program_stack(); }
    // Called after dlclose, with what was loaded before it.
    void forget_code(const LoadedModules &before) {
        walk_.forget();
        unloaded_.note(before, &stacks_);
    }
    const UnloadedModules &unloaded() const { return unloaded_; }

    // Held around fork.
    void lock();
    void unlock();

  private:
    using Cell = std::atomic<StackNumber>;  // ordered by nothing: a reader has stopped the threads that write

    bool cover(UnitIndex unit);

    platform::StackWalk walk_;
    Stacks stacks_;
    UnloadedModules unloaded_;
    BlockTable<Cell> numbers_;
    platform::Mutex mutex_;  // guards which units numbers_ covers
};

}  // namespace gr

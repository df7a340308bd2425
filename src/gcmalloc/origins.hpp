// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: for each block the calls that led to its allocation.
// Invariant: a number apart from the block; whoever has the block only writes it, so it is the last allocation's.
// Must not know: what is done with them.
#pragma once

#include "collector/block_table.hpp"
#include "platform/unwind/stack_walk.hpp"
#include "profile/stacks.hpp"

namespace gr {

class Origins {
  public:
    constexpr Origins() = default;

    // Once, as early as there are blocks. false: no memory.
    bool initialise();
    // Whoever allocated it is calling.
    void note(const void *p);
    StackNumber of(const Superblock *s, BlockIndex i) const {
        return numbers_.covers(s->unit) ? numbers_.row(s)[i.value].load(std::memory_order_relaxed) : 0;
    }
    const Stacks &stacks() const { return stacks_; }

    // Of the thread that ends the process, where what is still in use begins; nullptr: not known.
    const char *program_stack() { return walk_.program_stack(); }
    // A library was unloaded.
    void forget_code() { walk_.forget(); }

    // Around fork.
    void lock();
    void unlock();

  private:
    using Cell = std::atomic<StackNumber>;  // ordered by nothing: whoever looks has stopped who writes

    bool cover(UnitIndex unit);

    platform::StackWalk walk_;
    Stacks stacks_;
    BlockTable<Cell> numbers_;
    platform::Mutex mutex_;  // of what numbers_ covers
};

}  // namespace gr

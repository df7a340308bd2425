// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a mark for each block of one region: the number of the collection that last reached it.
// Invariant: a mark counts in the collection whose number it is, so nothing is cleared but when the numbers begin anew.
// Must not know: who marks; what is done with what is not marked.
#pragma once

#include "collector/block_table.hpp"

namespace gr {

using Mark = std::atomic<std::uint8_t>;  // relaxed: who marks twice has worked twice, no more

class Marks : public BlockTable<Mark> {
  public:
    // So many blocks of one word of a superblock's bitmap bear the number from now on.
    void stamp(const Superblock *s, std::uint32_t word, Word bits, std::uint8_t number) const;
    // Where its first marks lie is memory of their own from now on: who only looks first pays for two faults, and interrupts
    // all that mark for the second.
    void touch(const Superblock *s) const {
        std::uint8_t same = 0;
        row(s)->compare_exchange_strong(same, 0, std::memory_order_relaxed);
    }
    // The bits of the blocks in one word of a superblock's bitmap that this collection reached.
    Word live(const Superblock *s, std::uint32_t word, std::uint8_t number) const;
    // The same of marks that are all 0 or 1: those that are 1.
    Word raised(const Superblock *s, std::uint32_t word) const;
    // Every mark is 0.
    void clear();
    // The whole pages of the marks of these units, in which nothing lives, go back to the kernel; they are 0 then, or as
    // they were.
    void give_back(UnitIndex first, UnitIndex end) const;

  private:
    static void clear(Mark *marks, std::size_t bytes);
    static void give_back(Mark *begin, Mark *end);
};

static_assert(sizeof(Mark) == 1, "eight marks are compared as one word");

}  // namespace gr

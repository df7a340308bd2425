// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a mark for each block of one region: the number of the collection that last reached it.
// Invariant: a mark counts in the collection that has its number, so marks are cleared only when the numbers begin
//    anew.
// Must not know: who marks; what becomes of blocks that are not marked.
#pragma once

#include "collector/block_table.hpp"

namespace gr {

using Mark = std::atomic<std::uint8_t>;  // relaxed: two markers may both scan a block, which costs only time

class Marks : public BlockTable<Mark> {
  public:
    // The blocks that `bits` names in one word of a superblock's bitmap get the number.
    void stamp(const Superblock *s, std::uint32_t word, Word bits, std::uint8_t number) const;
    // Writes to the page of the first marks, so that the kernel gives it memory. A thread that reads a page before it
    // writes to it pays for two faults, and the second one interrupts all threads that mark.
    void touch(const Superblock *s) const {
        std::uint8_t same = 0;
        row(s)->compare_exchange_strong(same, 0, std::memory_order_relaxed);
    }
    // The bits of the blocks in one word of a superblock's bitmap that this collection reached.
    Word live(const Superblock *s, std::uint32_t word, std::uint8_t number) const;
    // The first of the marks from `begin` on that is the number; `end`: there is none. Called while others mark, too.
    static std::size_t first_of(const Mark *marks, std::size_t begin, std::size_t end, std::uint8_t number);
    // The bits of the blocks in one word of a superblock's bitmap whose marks are 1, where every mark is 0 or 1.
    Word raised(const Superblock *s, std::uint32_t word) const;
    // Every mark is 0.
    void clear();
    // Returns the whole pages of the marks of these units, which hold no live block, to the OS. These marks are 0
    // afterwards, or unchanged.
    void give_back(UnitIndex first, UnitIndex end) const;

  private:
    static void clear(Mark *marks, std::size_t bytes);
    static void give_back(Mark *begin, Mark *end);
};

static_assert(sizeof(Mark) == 1, "eight marks are compared as one word");

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the blocks in magazines and messages, as a collection empties these before it marks or sweeps.
// Invariant: all locks of all instances are held. Afterwards no block of a collected kind is cached, and no cached
//    block of another kind counts as used or is told of as dead.
// Must not know: how the other blocks are marked; what is done with magazines while the program runs.
#pragma once

#include "collector/mark_numbers.hpp"

namespace gr {

class CachedBlocks {
  public:
    constexpr CachedBlocks(const Kinds &kinds, MarkNumbers &numbers) : kinds_(kinds), numbers_(numbers) {}
    CachedBlocks(const CachedBlocks &) = delete;
    CachedBlocks &operator=(const CachedBlocks &) = delete;

    // Chooses the number that only cached blocks get. Called before the collection takes its own number.
    void choose_number() { number_ = numbers_.next(); }
    // Empties the caches of all kinds, or of one kind.
    void empty();
    void empty(Kind &kind) const;
    // Like empty(), where the marks of the last collection still count. A cached block may have been marked by it, and was
    // freed since: its mark is cleared, so that the sweep finds it.
    void empty_young() const;
    // For a kind that is swept while the program runs, or by superblocks of which blocks were taken. A cached block was free when the collection began, or was freed
    // since. So its mark says nothing and is cleared. Blocks that were freed by remote bits wait on.
    void empty_unmarked(Kind &kind) const;

  private:
    static bool is_exact(const Kind &kind) { return kind.setup.lifetime != Lifetime::collected || kind.tells_dead; }
    void mark(Kind &kind, std::uint8_t number) const;

    const Kinds &kinds_;
    MarkNumbers &numbers_;
    std::uint8_t number_ = 0;
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: moves blocks of a heap's superblocks into its magazines, and decides where the heap's next superblock comes
//    from.
// Invariant: the heap's lock is held from the first bit cleared to the last block in a magazine.
// Must not know: requests in bytes; which heap serves a thread.
#pragma once

#include "heap/flusher.hpp"

namespace gr {

class Refiller {
  public:
    constexpr Refiller(Owners &owners, RemoteFrees &remote, Ownership &ownership, Returns &returns,
                       Capacities &capacities, Flusher &flusher, Superblocks &superblocks, PageHeap &pages)
        : owners_(owners),
          remote_(remote),
          ownership_(ownership),
          returns_(returns),
          capacities_(capacities),
          flusher_(flusher),
          superblocks_(superblocks),
          pages_(pages) {}

    // In both functions the heap's lock is held. nullptr: no memory.

    // Returns a block, and fills the magazine with others.
    void *refill(OwnerIndex o, ClassIndex c);
    // Returns a block, for a caller that may not touch the magazine.
    void *take_one(OwnerIndex o, ClassIndex c) {
        void *block = nullptr;
        return take(o, c, {&block, 1}, preferred(o, c)) == 0 ? nullptr : block;
    }

  private:
    // Where the heap's next superblock of the class should lie.
    Prefer preferred(OwnerIndex o, ClassIndex c) const;
    // Takes half a magazine of blocks, returns one of them, and puts the others into the magazine.
    void *take_batch(OwnerIndex o, ClassIndex c, Prefer prefer);
    // Takes blocks into the end of `room`, the first block last. Returns how many.
    std::uint32_t take(OwnerIndex o, ClassIndex c, std::span<void *> room, Prefer prefer);
    Superblock *superblock_for(OwnerIndex o, ClassIndex c, Prefer prefer);
    Superblock *take_from_others(OwnerIndex to, ClassIndex c);

    Owners &owners_;
    RemoteFrees &remote_;
    Ownership &ownership_;
    Returns &returns_;
    Capacities &capacities_;
    Flusher &flusher_;
    Superblocks &superblocks_;
    PageHeap &pages_;
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: into magazines: blocks of a heap's superblocks, and where its next superblock comes from.
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

    // In both the heap's lock is held. nullptr: no memory.

    // A block; others fill the magazine.
    void *refill(OwnerIndex o, ClassIndex c);
    // The same for whoever may not touch the magazine.
    void *take_one(OwnerIndex o, ClassIndex c) {
        void *block = nullptr;
        return take(o, c, {&block, 1}, preferred(o, c)) == 0 ? nullptr : block;
    }

  private:
    // Where its next superblock should lie.
    Prefer preferred(OwnerIndex o, ClassIndex c) const;
    // Into the end of `room`, first comes last; how many.
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

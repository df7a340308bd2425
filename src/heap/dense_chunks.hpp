// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: making huge pages of chunks full of superblocks whose pages nearly all hold something.
// Invariant: no lock is held while the kernel makes one.
// Must not know: who decides when; how the kernel is asked.
#pragma once

#include "heap/ownership.hpp"

namespace gr {

class DenseChunks {
  public:
    constexpr DenseChunks(Ownership &ownership, Region &region, Superblocks &superblocks, PageHeap &pages)
        : ownership_(ownership), region_(region), superblocks_(superblocks), pages_(pages) {}

    // In both no lock is held. In a slow path: one, if it is due.
    void make_huge_pages();
    // At a tick of the background thread.
    void make_huge_pages_of_tick();

  private:
    bool is_dense(ChunkIndex chunk);

    Ownership &ownership_;
    Region &region_;
    Superblocks &superblocks_;
    PageHeap &pages_;
};

}  // namespace gr

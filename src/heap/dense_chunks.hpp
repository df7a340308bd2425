// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: makes huge pages of chunks that are full of superblocks and whose pages are nearly all resident.
// Invariant: no lock is held while the kernel makes a huge page.
// Must not know: when a huge page is due; how the kernel is asked.
#pragma once

#include "heap/ownership.hpp"

namespace gr {

class DenseChunks {
  public:
    constexpr DenseChunks(Ownership &ownership, Region &region, Superblocks &superblocks, PageHeap &pages)
        : ownership_(ownership), region_(region), superblocks_(superblocks), pages_(pages) {}

    // In both functions no lock is held. On a slow path: makes one huge page at most, if one is due.
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

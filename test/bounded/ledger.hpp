// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the program holds of one size class, at most ever, against the superblocks that the library holds.
// Invariant: asked for only while no other thread is inside the allocator.
// Must not know: which class, which thread, which heap.
#pragma once

#include <algorithm>

#include "bound.hpp"
#include "require.hpp"

namespace gr::test {

// Of all classes; runs of whole units do not count.
inline uint64_t superblock_bytes() {
    const gr_statistics taken = black_box::statistics();
    return taken.heap_bytes - taken.run_bytes;
}

class Ledger {
  public:
    // What lies in superblocks before the first block of the class is not counted.
    explicit Ledger(size_t size) : class_(class_of(size)), others_(superblock_bytes()) {}

    void allocated(uint64_t blocks) { peak_ = std::max(peak_, live_ += blocks); }
    void freed(uint64_t blocks) { live_ -= blocks; }

    void require_bounded(const char *name) {
        const uint64_t now = superblock_bytes();
        const uint64_t mine = now > others_ ? now - others_ : 0;
        const uint64_t bound = bound_of_bytes(class_, peak_, black_box::statistics().heaps);
        highest_ = std::max(highest_, mine);
        if (mine > bound)
            fail("%s: %lu KiB in superblocks of %u bytes for at most %lu KiB live; the bound is %lu KiB", name,
                 mine / 1024, shape_of(class_).size, peak_ * shape_of(class_).size / 1024, bound / 1024);
    }
    void report(const char *name) const {
        black_box::say(STDOUT_FILENO, "%s: %lu KiB live at most, %lu KiB in superblocks, bound %lu KiB\n", name,
                       peak_ * shape_of(class_).size / 1024, highest_ / 1024,
                       bound_of_bytes(class_, peak_, black_box::statistics().heaps) / 1024);
    }

  private:
    ClassIndex class_;
    uint64_t others_;
    uint64_t live_ = 0;
    uint64_t peak_ = 0;
    uint64_t highest_ = 0;
};

}  // namespace gr::test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: records of one length that an allocator keeps about its blocks, in pages that hold nothing else.
// Invariant: a record that came back is handed out again before a page is cut. Pages of records stay.
// Must not know: what a record says, and which threads may touch it.
#pragma once

#include "parts/jemalloc/quantum_bins.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/memory/wilderness.hpp"

namespace gr::lab {

template <std::size_t kBytes>
class Records {
    static_assert(kBytes >= sizeof(FreeBlock) && kBytes % alignof(FreeBlock) == 0 && kBytes <= kRunPageBytes,
                  "a free record holds the list's link, and a page holds whole records");

  public:
    // nullptr: no memory.
    void *take() {
        if (free_.is_empty()) cut_page();
        return free_.pop();
    }
    void put(void *record) { free_.push(record); }

  private:
    void cut_page() {
        char *const page = wilderness_.extend(kRunPageBytes, kRunPageBytes);
        if (page == nullptr) return;
        for (std::size_t at = 0; at + kBytes <= kRunPageBytes; at += kBytes) free_.push(page + at);
    }

    FreeList free_;
    Wilderness wilderness_;
};

}  // namespace gr::lab

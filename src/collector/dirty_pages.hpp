// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the pages of the heap that the program has written to since a marker saw them, and the marking that starts
//    there.
// Invariant: a write to a scanned block of a page that is watched is reported by the next question about that page. A
//    page that is not watched yet is reported as written.
// Must not know: when it is asked; what is done with the rest of the heap.
#pragma once

#include "base/bits.hpp"
#include "collector/kinds.hpp"
#include "collector/marker.hpp"
#include "platform/memory.hpp"
#include "platform/world/write_watch.hpp"

namespace gr {

class DirtyPages {
  public:
    using Then = platform::WriteWatch::Then;

    constexpr explicit DirtyPages(Kinds &kinds) : kinds_(kinds) {}
    DirtyPages(const DirtyPages &) = delete;
    DirtyPages &operator=(const DirtyPages &) = delete;

    // Once in each process. nullptr: done. Else the text says what the kernel lacks or refuses.
    const char *begin() { return watch_.begin({kinds_.field().base(), kinds_.field().end()}); }
    // For fork's child, which does not inherit the watch.
    void forget() { watch_.forget(); }

    // From now on the writes to all scanned kinds are watched, and what was written before is forgotten. Marks get
    // memory. false: not all is watched.
    bool watch();
    // The pages of all scanned kinds are watched no more.
    void leave();
    // Scans the marked blocks in the pages that were written to, and counts these pages. Nothing that these blocks
    // point to is scanned before all the pages have been visited and, if it is wanted, are watched again. false: not
    // all is known.
    bool mark_from(Marker &marker, Then then, std::size_t *pages);

    // Calls visit(first, end) for rows of units whose superblocks' bitmaps were written to. false: not all is known.
    template <class Visit>
    bool for_each_written_bitmap(const Kind &kind, Then then, Visit visit) {
        const Superblocks &superblocks = kind.instance.superblocks();
        const UnitIndex behind = kind.instance.region().unit_end();
        bool is_known = true;
        for (const bool wide : {false, true}) {
            const Superblocks::Rows rows = superblocks.rows_below(behind, wide);
            const platform::Range all{rows.begin, rows.begin + rows.bytes};
            const auto visit_rows = [&](platform::Range written) {
                const UnitIndex end = superblocks.unit_of_row(written.end - 1, wide) + UnitCount(1);
                visit(superblocks.unit_of_row(written.begin < all.begin ? all.begin : written.begin, wide),
                      end < behind ? end : behind);
            };
            const platform::Range pages{down_to_page(all.begin), down_to_page(all.end + platform::page_size() - 1)};
            is_known = watch_.for_each_written(pages, then, visit_rows) && is_known;
        }
        return is_known;
    }

  private:
    static const char *down_to_page(const char *p) {
        return reinterpret_cast<const char *>(align_down(reinterpret_cast<std::uintptr_t>(p), platform::page_size()));
    }

    Kinds &kinds_;
    platform::WriteWatch watch_;
};

}  // namespace gr

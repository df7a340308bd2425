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
#include "platform/world/mapped_list.hpp"
#include "platform/world/write_watch.hpp"

namespace gr {

class DirtyPages {
  public:
    using Then = platform::WriteWatch::Then;

    constexpr explicit DirtyPages(Kinds &kinds) : kinds_(kinds) {}
    DirtyPages(const DirtyPages &) = delete;
    DirtyPages &operator=(const DirtyPages &) = delete;

    // nullptr: the kernel reports writes from now on. Else the text says what the kernel lacks or refuses.
    const char *begin();
    // For fork's child, which does not inherit the watch; begin() may follow.
    void forget();

    // From now on the writes to all scanned kinds are watched, and what was written before is forgotten. Marks get
    // memory. false: not all is watched.
    bool watch();
    // The pages of all scanned kinds are watched no more.
    void leave();
    // Like watch(), but only runs, and superblocks of which half of the blocks are in use: the program writes first to the
    // others, when it takes blocks there, and would wait for the kernel at each page. The threads stand.
    bool watch_used();
    // Like mark_from(), in the stop of a minor collection. Pages are watched on, except in superblocks of which blocks were
    // taken since the last collection: these wait for watch_taken().
    // *bytes: of old blocks that are scanned again. Above `most` the rest is left out.
    bool mark_from_young(Marker &marker, std::size_t most, std::uint64_t *bytes);
    // After the sweep: those of the waiting superblocks are watched of which half of the blocks are in use, as in
    // watch_used(). false: not all are watched.
    bool watch_taken();
    // The marked blocks in the pages that were written to go to the worklist, and these pages are counted. Nothing that these blocks
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

    struct Row {
        const Kind *kind;
        UnitIndex first;
        UnitIndex end;
    };

    static platform::Range pages_of(const Kind &kind, UnitIndex first, UnitIndex end) {
        const Region &region = kind.instance.region();
        return {region.address(first), region.address(end)};
    }

    Kinds &kinds_;
    platform::WriteWatch watch_;
    platform::MappedList<Row> taken_;  // in this stop: rows of superblocks that wait for watch_taken()
    bool has_begun_ = false;
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the steps of the mark phase that every kind of collection shares: free blocks get the number, the markers mark
//    to the end, and finalization decides about what is not marked.
// Invariant: nothing that may be reached stays unmarked: where roots are not known or memory ends, a step says so, and
//    links and finalizers are not touched.
// Must not know: where marking begins; when a step is taken; what becomes of blocks that are not marked.
#pragma once

#include "collector/collection_report.hpp"
#include "collector/finalization.hpp"
#include "collector/hooks.hpp"
#include "collector/mark_numbers.hpp"
#include "collector/markers.hpp"

namespace gr {

class MarkPhase {
  public:
    constexpr MarkPhase(Kinds &kinds, const MarkNumbers &numbers, Markers &markers, const Hooks &hooks,
                        Finalization &finalization)
        : kinds_(kinds), numbers_(numbers), markers_(markers), hooks_(hooks), finalization_(finalization) {}
    MarkPhase(const MarkPhase &) = delete;
    MarkPhase &operator=(const MarkPhase &) = delete;

    // The threads stand, from here to mark_all(). Free blocks get the number, so no marker need ask whether a block is
    // free, and the unit table is written anew.
    void prepare();
    // Free blocks of one superblock get the number. The caller holds all locks, or its owner's.
    void stamp_free(Kind &kind, Superblock *s) const;
    // The program runs, and no lock is held. Free blocks of all scanned kinds get the number. A block that is taken
    // meanwhile counts as marked.
    void stamp_free_now();
    // Marks from `scan(marker)`, which says whether all roots are known, to the end. Then finalization, links and hooks
    // decide what else stays; they do not if other roots may exist. false: something that is reachable may not be
    // marked.
    template <class Scan>
    bool mark_all(MarkMode mode, CollectionReport *report, Scan scan) {
        Marker marker(markers_.setup(numbers_.current(), mode));
        const Marker::Current current(marker);
        markers_.begin(numbers_.current(), mode);
        const bool all_known = scan(marker);
        return finish(marker, all_known, report);
    }

  private:
    bool finish(Marker &marker, bool all_known, CollectionReport *report);
    void finalize(Marker &marker, CollectionReport *report);

    Kinds &kinds_;
    const MarkNumbers &numbers_;
    Markers &markers_;
    const Hooks &hooks_;
    Finalization &finalization_;
};

}  // namespace gr

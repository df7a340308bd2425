// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sweep of an incremental collection: kinds whose dead blocks anyone looks at are swept in the last stop, the
//    others while the program runs, by what was free when the threads stood.
// Invariant: the snapshot of free blocks is taken before the last stop; what was written to bitmaps since is looked at
//    again in that stop.
// Must not know: which names programs call; how objects are marked.
#pragma once

#include "collector/dirty_pages.hpp"
#include "collector/free_snapshot.hpp"
#include "collector/sweep_phase.hpp"

namespace gr {

class IncrementalSweep {
  public:
    constexpr IncrementalSweep(Kinds &kinds, const MarkNumbers &numbers, DirtyPages &dirty, SweepPhase &sweep_phase)
        : kinds_(kinds), numbers_(numbers), dirty_(dirty), sweep_phase_(sweep_phase) {}
    IncrementalSweep(const IncrementalSweep &) = delete;
    IncrementalSweep &operator=(const IncrementalSweep &) = delete;

    // Notes the free blocks of the kinds that will be swept while the program runs. From now on what is written to
    // their bitmaps is reported. false: not all is known.
    bool take_snapshot();
    // In the last stop: notes again what was written to since.
    bool correct_snapshot();
    // In the last stop: all runs, and the superblocks of the kinds that must not be swept later.
    void sweep_in_stop(CollectionReport *report);
    // While the program runs, with no lock held: the other superblocks.
    void sweep_now(CollectionReport *report);
    // Under the lock, after both.
    void learn(CollectionReport *report) { sweep_phase_.learn(found_, report); }

    template <class Visit>
    void for_each_memory(Visit visit) const {
        snapshot_.for_each_memory(visit);
    }

  private:
    Kinds &kinds_;
    const MarkNumbers &numbers_;
    DirtyPages &dirty_;
    SweepPhase &sweep_phase_;
    FreeSnapshot snapshot_;
    Found found_;
};

}  // namespace gr

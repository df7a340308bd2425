// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the steps of the sweep phase that every kind of collection shares: unmarked blocks become free, unmarked runs
//    go onto a list, and what stays is counted and told to the pace.
// Invariant: the threads stand, and everything reachable is marked. No block is touched, except dead blocks of kinds
//    that are asked what their blocks hold.
// Must not know: how objects were marked; which memory is returned.
#pragma once

#include "collector/blocks.hpp"
#include "collector/collection_report.hpp"
#include "collector/pace.hpp"
#include "collector/roots.hpp"
#include "platform/world/mapped_list.hpp"

namespace gr {

class SweepPhase {
  public:
    constexpr SweepPhase(Kinds &kinds, const MarkNumbers &numbers, const Blocks &blocks, const Roots &roots, Pace &pace)
        : kinds_(kinds), numbers_(numbers), blocks_(blocks), roots_(roots), pace_(pace) {}
    SweepPhase(const SweepPhase &) = delete;
    SweepPhase &operator=(const SweepPhase &) = delete;

    // All kinds.
    void sweep(CollectionReport *report);
    // One kind: its superblocks, its runs, and what its superblocks hold then.
    void sweep_superblocks(Kind &kind, CollectionReport *report) const;
    void sweep_runs(Kind &kind, CollectionReport *report, Found *found);
    static void count(const Kind &kind, CollectionReport *report, Found *found);
    // What one superblock holds. The caller holds all locks, or its owner's.
    static void count(const Kind &kind, const Superblock *s, CollectionReport *report, Found *found);
    // Called as soon as all is counted: what other threads allocate when they run is not part of it.
    void learn(Found found, CollectionReport *report);

    // With no lock held but the collector's.
    void release_dead_runs();

  private:
    struct DeadRun {
        Kind *kind;
        Superblock *run;
    };

    void zero_dead(Kind &kind) const;

    Kinds &kinds_;
    const MarkNumbers &numbers_;
    const Blocks &blocks_;
    const Roots &roots_;
    Pace &pace_;
    platform::MappedList<DeadRun> dead_runs_;
};

}  // namespace gr

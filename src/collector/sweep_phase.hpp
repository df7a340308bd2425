// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the steps of the sweep phase that every kind of collection shares: unmarked blocks become free, unmarked runs
//    go onto a list, and what stays is counted and told to the pace.
// Invariant: the threads stand, and everything reachable is marked. No block is touched, except dead blocks of kinds
//    that are asked what their blocks hold.
// Must not know: how objects were marked; which memory is returned.
#pragma once

#include <span>

#include "collector/blocks.hpp"
#include "collector/collection_report.hpp"
#include "collector/pacer.hpp"
#include "platform/world/mapped_list.hpp"

namespace gr {

class SweepPhase {
  public:
    constexpr SweepPhase(Kinds &kinds, const MarkNumbers &numbers, const Blocks &blocks, Pacer &pacer)
        : kinds_(kinds), numbers_(numbers), blocks_(blocks), pacer_(pacer) {}
    SweepPhase(const SweepPhase &) = delete;
    SweepPhase &operator=(const SweepPhase &) = delete;

    // Which superblocks are swept. all: every one. taken: those of which blocks were taken since the last collection, whose
    // marks still count; in the others no block is young.
    enum class Which : bool { all, taken };
    // All kinds. Returns what stays.
    Found sweep(CollectionReport *report, Which which);
    // One kind: its superblocks, its runs, and what its superblocks hold then.
    void sweep_superblocks(Kind &kind, CollectionReport *report, Which which = Which::all) const;
    void sweep_runs(Kind &kind, CollectionReport *report, Found *found);
    void count(const Kind &kind, CollectionReport *report, Found *found) const;
    // What one superblock holds. The caller holds all locks, or its owner's.
    void count(const Kind &kind, const Superblock *s, CollectionReport *report, Found *found) const;
    // After all of it.
    void learn(const Found &found, CollectionReport *report) { pacer_.learn(found, report); }

    // The rest with no lock held but the collector's, when the threads run again.
    void release_dead_runs();
    // Blocks of a kind that keeps its dead, those of a superblock in a row: they become free.
    static void free_dead(Kind &kind, std::span<void *const> blocks);

  private:
    struct DeadRun {
        Kind *kind;
        Superblock *run;
    };

    void zero_dead(Kind &kind) const;
    std::uint32_t live_count(const Kind &kind, const Superblock *s) const;

    Kinds &kinds_;
    const MarkNumbers &numbers_;
    const Blocks &blocks_;
    Pacer &pacer_;
    platform::MappedList<DeadRun> dead_runs_;
};

}  // namespace gr

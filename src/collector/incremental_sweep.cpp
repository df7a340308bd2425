// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/incremental_sweep.hpp"

namespace gr {

bool IncrementalSweep::take_snapshot() {
    bool is_known = true;
    snapshot_.clear();
    kinds_.for_each([&](Kind &kind) {
        if (!kind.may_be_swept_late()) return;
        const Region &region = kind.instance.region();
        is_known =
            dirty_.for_each_written_bitmap(kind, DirtyPages::Then::watch_on, [](UnitIndex, UnitIndex) {}) && is_known;
        snapshot_.add(kind, region.first_unit(), region.unit_end());
    });
    return is_known;
}

bool IncrementalSweep::correct_snapshot() {
    bool is_known = true;
    kinds_.for_each([&](Kind &kind) {
        if (!kind.may_be_swept_late()) return;
        const auto add = [&](UnitIndex first, UnitIndex end) { snapshot_.add(kind, first, end); };
        is_known = dirty_.for_each_written_bitmap(kind, DirtyPages::Then::leave, add) && is_known;
    });
    return is_known;
}

void IncrementalSweep::sweep_in_stop(CollectionReport *report) {
    found_ = {};
    report->held_before = kinds_.present_bytes();
    kinds_.for_each([&](Kind &kind) {
        sweep_phase_.sweep_runs(kind, report, &found_);
        if (kind.may_be_swept_late()) return;
        sweep_phase_.sweep_superblocks(kind, report);
        sweep_phase_.count(kind, report, &found_);
        generations_.unmark_free(kind);
    });
}

// A superblock of another class has none of the blocks that were found dead.
void IncrementalSweep::sweep_now(CollectionReport *report) {
    snapshot_.for_each([&](Kind &kind, UnitIndex first, ClassIndex c, auto free_then) {
        report->freed_blocks += kind.instance.collector_view().sweep_of(
            first,
            [&](const Superblock *s, std::uint32_t word) {
                return s->size_class == c ? kind.marks.live(s, word, numbers_.current()) | free_then(word) : ~Word{0};
            },
            [&](Superblock *s) {
                sweep_phase_.count(kind, s, report, &found_);
                generations_.unmark_free(kind, s);
            });
    });
}

}  // namespace gr

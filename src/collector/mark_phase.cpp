// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/mark_phase.hpp"

#include "collector/reachability.hpp"

namespace gr {

void MarkPhase::prepare() {
    kinds_.for_each([&](Kind &kind) {
        CollectorView &view = kind.instance.collector_view();
        view.for_each_superblock([&](Superblock *s) { stamp_free(kind, s); });
        kinds_.field().prepare(kind.number, view);
    });
}

void MarkPhase::prepare_unit_table() {
    kinds_.for_each([&](Kind &kind) {
        CollectorView &view = kind.instance.collector_view();
        view.for_each_superblock([&](const Superblock *s) {
            if (s->taken) kind.marks.touch(s);
        });
        kinds_.field().prepare(kind.number, view);
    });
}

void MarkPhase::stamp_free(Kind &kind, Superblock *s) const {
    kind.marks.touch(s);
    if (kind.setup.lifetime == Lifetime::held_back) return;
    kind.instance.collector_view().for_each_free_word(
        s, [&](std::uint32_t word, Word bits) { kind.marks.stamp(s, word, bits, numbers_.current()); });
}

void MarkPhase::stamp_free_now() {
    kinds_.for_each([&](Kind &kind) {
        const Region &region = kind.instance.region();
        if (!kind.has_pointers()) return;
        kind.instance.collector_view().for_each_superblock_now(region.first_unit(), region.unit_end(),
                                                               [&](Superblock *s) {
                                                                   if (kind.marks.covers(s->unit)) stamp_free(kind, s);
                                                               });
    });
}

bool MarkPhase::finish(Marker &marker, bool all_known, CollectionReport *report) {
    if (!markers_.finish(marker) || !all_known) return false;
    finalize(marker, report);
    if (hooks_.reached != nullptr) {
        hooks_.reached();
        marker.drain();
    }
    return !marker.failed();
}

void MarkPhase::finalize(Marker &marker, CollectionReport *report) {
    const auto java = hooks_.finalizes_as_java == nullptr ? JavaFinalization::on : hooks_.finalizes_as_java();
    Reachability reachability(kinds_.field(), marker);
    report->finalization = finalization_.settle(reachability, java);
}

}  // namespace gr

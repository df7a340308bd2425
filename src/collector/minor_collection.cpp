// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/minor_collection.hpp"

namespace gr {

void MinorCollection::run(CollectionReport *report, std::size_t most_rescanned) {
    most_rescanned_ = most_rescanned;
    is_given_up_ = false;
    parts_.hooks.tell(Step::begin);
    parts_.stopper.while_stopped(report, [&] {
        parts_.stopper.mark_and_sweep(
            report, [&] { return mark(report); }, [&] { sweep(report); });
    });
    if (report->done) {
        parts_.memory_return.settle(*report);
        parts_.history.add(report);
    } else if (is_given_up_) {
        parts_.generations.give_up();
    } else {
        parts_.generations.forget();
    }
    parts_.hooks.tell(Step::end);
}

// Free blocks get no number: at worst a word that looks like an address of one keeps the next block at that place too long.
bool MinorCollection::mark(CollectionReport *report) {
    parts_.cached_blocks.empty_young();
    parts_.mark_phase.prepare_unit_table();
    return parts_.mark_phase.mark_all(MarkMode::stopped, report, [&](Marker &marker) {
        const bool is_known = parts_.dirty_pages.mark_from_young(marker, most_rescanned_, &report->rescanned_bytes);
        is_given_up_ = report->rescanned_bytes > most_rescanned_;
        if (!is_given_up_) return parts_.roots.scan(marker) && is_known;
        parts_.markers.abandon();
        return false;
    });
}

void MinorCollection::sweep(CollectionReport *report) {
    report->held = parts_.sweep_phase.sweep(report, SweepPhase::Swept::taken).held;
    parts_.generations.renew(*report, parts_.pace);
}

}  // namespace gr

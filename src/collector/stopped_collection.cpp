// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/stopped_collection.hpp"

#include <utility>

namespace gr {

void StoppedCollection::run(CollectionReport *report) {
    parts_.hooks.tell(Step::begin);
    parts_.pacer.begin_marking();
    parts_.markers.ensure_helpers_for(parts_.history.last().live_bytes);
    parts_.stopper.while_stopped(report, [&] {
        room_.let_go();
        parts_.stopper.mark_and_sweep(
            report, [&] { return mark(report); }, [&] { sweep(report); });
    });
    if (report->done) {
        parts_.memory_return.settle(*report);
        parts_.history.add(report);
        parts_.hooks.tell_of_unseen(platform::world.unseen());
    } else {
        end_refused();
    }
    room_.keep();
    parts_.hooks.tell(Step::end);
}

void StoppedCollection::end_refused() {
    parts_.pace.put_off_failed(parts_.kinds.present_bytes());
    if (parts_.hooks.refused == nullptr) return;
    std::exchange(parts_.hooks.refused, nullptr)(
        "threads could not be stopped, mappings could not be read, or memory ran out; check /proc and descriptors");
}

bool StoppedCollection::mark(CollectionReport *report) {
    parts_.generations.forget();
    parts_.cached_blocks.empty();
    parts_.numbers.next();
    parts_.mark_phase.prepare();
    return parts_.mark_phase.mark_all(MarkMode::stopped, report,
                                      [&](Marker &marker) { return parts_.roots.scan(marker); });
}

void StoppedCollection::sweep(CollectionReport *report) {
    parts_.pacer.end_marking();
    parts_.sweep_phase.learn(parts_.sweep_phase.sweep(report, SweepPhase::Which::all), report);
    parts_.memory_return.return_marks(*report);
    parts_.generations.begin(*report, parts_.pace);
}

}  // namespace gr

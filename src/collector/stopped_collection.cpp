// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/stopped_collection.hpp"

#include <utility>

namespace gr {

void StoppedCollection::run(CollectionReport *report) {
    parts_.hooks.tell(Step::begin);
    parts_.markers.ensure_helpers_for(parts_.history.last().live_bytes);
    parts_.stopper.while_stopped(report, [&] {
        parts_.stopper.mark_and_sweep(
            report, [&] { return mark(report); }, [&] { sweep(report); });
    });
    if (report->done) {
        parts_.memory_return.settle(*report);
        parts_.history.add(report);
    } else if (const auto refused = std::exchange(parts_.hooks.refused, nullptr); refused != nullptr) {
        refused(
            "threads could not be stopped, mappings could not be read, or memory ran out; check /proc and descriptors");
    }
    parts_.hooks.tell(Step::end);
}

bool StoppedCollection::mark(CollectionReport *report) {
    parts_.cached_blocks.empty();
    parts_.numbers.next();
    parts_.mark_phase.prepare();
    return parts_.mark_phase.mark_all(MarkMode::stopped, report,
                                      [&](Marker &marker) { return parts_.roots.scan(marker); });
}

void StoppedCollection::sweep(CollectionReport *report) {
    parts_.sweep_phase.sweep(report);
    parts_.memory_return.return_marks(*report);
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all that happens to objects that roots do not reach, before they are swept, in its order.
// Invariant: short links and ephemerons are cleared before anything is brought back for its finalizer, long links after.
//    What is brought back brings back the values of its ephemerons. The caller holds the lock of the collector.
// Must not know: when it is collected; how it is marked.
#pragma once

#include "collector/ephemerons.hpp"
#include "collector/finalizers.hpp"
#include "collector/links.hpp"
#include "collector/toggle_references.hpp"

namespace gr {

struct Finalization {
    Links short_links;
    Links long_links;
    Finalizers finalizers;
    ToggleReferences toggles;
    Ephemerons ephemerons;

    // visit(pointer) for what is kept here, with the other roots.
    template <class Visit>
    void for_each_root(Visit visit) const {
        finalizers.for_each_root(visit);
        toggles.for_each_root(visit);
    }

    // Between the marking of what roots reach and the sweep, while the world is stopped. Nothing is cleared or queued
    // where memory for the marking ran out before.
    template <ObservableMarking M>
    FinalizationReport settle(M &marking, JavaFinalization java) {
        if (ephemerons.size() == 0) return settle_dead(marking, java);
        FinalizationReport report;
        {
            EphemeronMarking<M> through(ephemerons, marking);
            through.begin();
            if (marking.failed()) return report;
            ephemerons.clear_dead(marking);
            through.forget_waiting();
            report = settle_dead(through, java);
        }
        ephemerons.forget_dead(marking);
        return report;
    }

  private:
    template <Marking M>
    FinalizationReport settle_dead(M &marking, JavaFinalization java) {
        short_links.clear_dead(marking);
        const FinalizationReport report = finalizers.queue_dead(marking, java);
        short_links.forget_dead_cells(marking);
        toggles.forget_dead(marking);
        long_links.clear_dead(marking);
        long_links.forget_dead_cells(marking);
        return report;
    }
};

}  // namespace gr

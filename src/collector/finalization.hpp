// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all that happens to objects that roots do not reach, before they are swept, in its order.
// Invariant: short links are cleared before anything is brought back for its finalizer, long ones after. The caller
//    holds the lock of the collector.
// Must not know: when it is collected; how it is marked.
#pragma once

#include "collector/finalizers.hpp"
#include "collector/links.hpp"
#include "collector/toggle_references.hpp"

namespace gr {

struct Finalization {
    Links short_links;
    Links long_links;
    Finalizers finalizers;
    ToggleReferences toggles;

    // What is registered, without the lock: bytes of tables, of which a half is used.
    std::size_t held_bytes() const {
        return 2 * (short_links.used_bytes() + long_links.used_bytes() + finalizers.used_bytes());
    }

    // visit(pointer) for what is kept here, with the other roots.
    template <class Visit>
    void for_each_root(Visit visit) const {
        finalizers.for_each_root(visit);
        toggles.for_each_root(visit);
    }

    // Between the marking of what roots reach and the sweep, while the world is stopped.
    template <Marking M>
    FinalizationReport settle(M &marking, JavaFinalization java) {
        short_links.clear_dead(marking);
        const FinalizationReport report = finalizers.queue_dead(marking, java);
        short_links.forget_dead_cells(marking);
        toggles.forget_dead(marking);
        long_links.clear_dead(marking);
        long_links.forget_dead_cells(marking);
        short_links.give_back_memory();
        long_links.give_back_memory();
        finalizers.give_back_memory();
        return report;
    }
};

}  // namespace gr

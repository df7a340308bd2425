// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what happens to the objects that roots do not reach before they are swept, in order.
// Invariant: short links and ephemerons are cleared before finalizers bring objects back, long links after. An object that
//    is brought back also brings back the values of its ephemerons. The caller holds the collector's lock.
// Must not know: when a collection runs; how objects are marked.
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

    // May be called without the lock. Whether so much was registered since the last collection that another is worth it,
    // however little memory the blocks take: the tables stay small, and what finalizers release is often more than blocks.
    bool is_due() const { return registered() >= due_at_.load(std::memory_order_relaxed); }
    // Called after each collection, also after one that could not be done: tries become ever rarer. What has died is
    // no longer registered then.
    void put_off() { due_at_.store(registered() + registered() / 2 + kLeastBetween, std::memory_order_relaxed); }

    // Calls visit(pointer) for what finalization keeps, with the other roots.
    template <class Visit>
    void for_each_root(Visit visit) const {
        finalizers.for_each_root(visit);
        toggles.for_each_root(visit);
    }

    // Between the marking from roots and the sweep, while the threads stand. If memory for the marking ran out before,
    // nothing is cleared or queued.
    template <ObservableMarking M>
    FinalizationReport settle(M &marking, JavaFinalization java) {
        FinalizationReport report;
        if (ephemerons.size() == 0) {
            report = settle_dead(marking, java);
        } else {
            {
                EphemeronMarking<M> through(ephemerons, marking);
                through.begin();
                if (marking.failed()) return report;
                ephemerons.clear_dead(marking);
                through.forget_waiting();
                report = settle_dead(through, java);
            }
            ephemerons.forget_dead(marking);
        }
        put_off();
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
        short_links.give_back_memory();
        long_links.give_back_memory();
        finalizers.give_back_memory();
        return report;
    }

    static constexpr std::size_t kLeastBetween = 16384;  // registrations

    std::size_t registered() const {
        return short_links.size() + long_links.size() + finalizers.registered() + ephemerons.size();
    }

    std::atomic<std::size_t> due_at_{kLeastBetween};  // ordered by nothing
};

}  // namespace gr

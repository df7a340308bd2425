// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: procedures that will be called for objects that nothing reaches any more: registered, then queued, then taken.
// Invariant: an object is registered at most once, and registration does not keep it. Client data is kept while it is
//    registered; queued objects are kept with all that they reach. The caller holds the collector's lock except where a
//    function says otherwise, and calls no procedure under it.
// Must not know: when a collection runs; who calls the procedures.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "collector/address_table.hpp"
#include "collector/marking.hpp"
#include "platform/world/mapped_list.hpp"

namespace gr {

// What the finalizer of an object that roots do not reach waits for.
enum class FinalizationOrder : std::uint8_t {
    normal,       // what the object reaches waits, so the object itself if that leads back to it
    ignore_self,  // like normal, but the object's pointers into itself do not count
    none,         // nothing waits
    unreachable,  // like normal; with Java finalization the object waits for objects of the order none, too
};

// Whether `unreachable` differs from `normal`.
enum class JavaFinalization : std::uint8_t { off, on };

using FinalizationProcedure = void (*)(void *object, void *client_data);

struct Finalizer {
    FinalizationProcedure procedure = nullptr;  // nullptr: none
    void *client_data = nullptr;
    FinalizationOrder order = FinalizationOrder::normal;
};

struct QueuedFinalizer {
    void *object = nullptr;
    Finalizer finalizer;
};

struct FinalizationReport {
    std::size_t queued = 0;
    // Objects that wait for themselves until the program breaks the cycle: how many, and the last of them.
    std::size_t cycles = 0;
    const void *in_cycle = nullptr;
};

class Finalizers {
  public:
    constexpr Finalizers() = default;

    // Registers this finalizer; one without a procedure removes the object's finalizer. Returns the finalizer that was
    // registered before; nothing: no memory, and nothing changed.
    std::optional<Finalizer> set(const void *object, const Finalizer &finalizer);

    // Calls visit(pointer) for all client data and for queued objects, with the other roots.
    template <class Visit>
    void for_each_root(Visit visit) const {
        registered_.for_each(
            [&](const void *, const Finalizer &known) { visit(static_cast<const void *>(known.client_data)); });
        for (const QueuedFinalizer &one : queue_.all()) {
            visit(static_cast<const void *>(one.object));
            visit(static_cast<const void *>(one.finalizer.client_data));
        }
    }

    // Queues the unmarked objects that wait for no other object, and marks them with all that they reach. While the
    // threads stand.
    template <Marking M>
    FinalizationReport queue_dead(M &marking, JavaFinalization java) {
        FinalizationReport report;
        const std::size_t before = queue_.size();
        mark_what_waits(marking, &report);
        queue_unmarked(marking);
        keep_queued(marking, before, java);
        publish();
        report.queued = queue_.size() - before;
        return report;
    }
    // Queues all registered objects, dead or not, as far as memory lasts. Returns how many.
    std::size_t queue_all();

    // false: nothing is queued. The caller calls the finalizer without the lock.
    bool take(QueuedFinalizer *taken);
    // In the order in which they were queued.
    std::span<const QueuedFinalizer> queue() const { return queue_.all(); }
    std::size_t registered() const { return registered_.size(); }
    // May be called without the lock.
    std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }
    void give_back_memory() { registered_.give_back(); }
    std::array<platform::Growing, 2> memory() const { return {registered_.memory(), queue_.memory()}; }

  private:
    template <Marking M>
    void mark_what_waits(M &marking, FinalizationReport *report) const {
        registered_.for_each([&](const void *object, const Finalizer &finalizer) {
            if (finalizer.order == FinalizationOrder::none || marking.is_marked(object)) return;
            mark_waiting_for(marking, object, finalizer.order);
            if (!marking.is_marked(object)) return;
            ++report->cycles;
            report->in_cycle = object;
        });
    }
    template <Marking M>
    static void mark_waiting_for(M &marking, const void *object, FinalizationOrder order) {
        switch (order) {
            case FinalizationOrder::normal:
            case FinalizationOrder::unreachable:
                return marking.mark_from(object);
            case FinalizationOrder::ignore_self:
                return mark_from_except_self(marking, object);
            case FinalizationOrder::none:
                return;
        }
    }
    template <Marking M>
    void queue_unmarked(M &marking) {
        registered_.remove_if([&](void *object, const Finalizer &finalizer) {
            if (marking.is_marked(object)) return false;
            if (queue_.add({object, finalizer})) return true;
            // No memory: the object lives until a later collection finds some.
            marking.mark(object);
            return false;
        });
    }
    // All are queued before the first is marked, because no object waits for an object of the order none.
    template <Marking M>
    void keep_queued(M &marking, std::size_t first, JavaFinalization java) {
        const auto waits_for_all = [&](const QueuedFinalizer &one) {
            return java == JavaFinalization::on && one.finalizer.order == FinalizationOrder::unreachable;
        };
        marking.mark_each([&](auto mark) {
            for (const QueuedFinalizer &one : queue_.all().subspan(first)) {
                if (!waits_for_all(one)) mark(one.object);
            }
        });
        for (std::size_t i = queue_.size(); i-- != first;) {
            if (!waits_for_all(queue_[i])) continue;
            if (marking.is_marked(queue_[i].object)) {
                register_again(i);
            } else {
                marking.mark(queue_[i].object);
            }
        }
    }
    void register_again(std::size_t i);
    void publish() { queued_.store(queue_.size(), std::memory_order_relaxed); }

    AddressTable<Finalizer> registered_;  // by object
    platform::MappedList<QueuedFinalizer> queue_;
    std::atomic<std::size_t> queued_{0};  // the queue's size, for readers without the lock; ordered by nothing
};

// Calls the queued finalizers one after the other and returns how many. take(&one) takes one under the lock and returns
// without it, so a procedure may do whatever a program may do.
template <class Take>
std::size_t call_finalizers(Take take) {
    std::size_t called = 0;
    for (QueuedFinalizer one; take(&one); ++called) one.finalizer.procedure(one.object, one.finalizer.client_data);
    return called;
}

}  // namespace gr

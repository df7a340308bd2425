// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: procedures that are to be called for objects that nothing reaches any more: registered, then queued, then
//    taken.
// Invariant: an object is registered once at most, and not kept by that; client data is kept while registered, what is
//    queued is kept whole. The caller holds the lock of the collector but where another one is named, and calls no
//    procedure while it does.
// Must not know: when it is collected; who calls the procedures.
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

// What waits for an object that roots do not reach.
enum class FinalizationOrder : std::uint8_t {
    normal,       // all that it reaches; so itself, if that leads back to it
    ignore_self,  // the same, but its own pointers into itself do not count
    none,         // nothing
    unreachable,  // as normal; and with Java's finalization it waits for those without an order, too
};

// Whether `unreachable` is more than `normal`.
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
    // Objects that wait for themselves, for ever unless the cycle is broken: one of each cycle, and the last of them.
    std::size_t cycles = 0;
    const void *in_cycle = nullptr;
};

class Finalizers {
  public:
    constexpr Finalizers() = default;

    // From now on this one, or without a procedure none. Says what there was until now; nothing: no memory, no change.
    std::optional<Finalizer> set(const void *object, const Finalizer &finalizer);

    // Client data of all, and what is queued: visit(pointer), before anything is asked of the marks.
    template <class Visit>
    void for_each_root(Visit visit) const {
        registered_.for_each(
            [&](const void *, const Finalizer &known) { visit(static_cast<const void *>(known.client_data)); });
        for (const QueuedFinalizer &one : queue_.all()) {
            visit(static_cast<const void *>(one.object));
            visit(static_cast<const void *>(one.finalizer.client_data));
        }
    }

    // Of objects that are not marked those that wait for no other are queued. They are marked then, and so is all that
    // any of them reaches. While the world is stopped.
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
    // All, dead or not. How many; not all when memory ends.
    std::size_t queue_all();

    // false: nothing is queued. Whoever took one calls it, without the lock.
    bool take(QueuedFinalizer *taken);
    // The last ones came last.
    std::span<const QueuedFinalizer> queue() const { return queue_.all(); }
    std::size_t registered() const { return registered_.size(); }
    // Without the lock; who wants one takes it with the lock.
    std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }
    void give_back_memory() { registered_.give_back(); }
    std::size_t used_bytes() const { return registered_.used_bytes(); }
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
            // No memory: it lives until the next collection finds some.
            marking.mark(object);
            return false;
        });
    }
    // All are queued before any is marked: nothing waits for what has no order.
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
    std::atomic<std::size_t> queued_{0};  // of the queue, for readers without the lock; ordered by nothing
};

// Calls what is queued, one after the other, until there is no more; how many. take(&one) takes with the lock and returns
// without it, so a procedure may do whatever a program may.
template <class Take>
std::size_t call_finalizers(Take take) {
    std::size_t called = 0;
    for (QueuedFinalizer one; take(&one); ++called) one.finalizer.procedure(one.object, one.finalizer.client_data);
    return called;
}

}  // namespace gr

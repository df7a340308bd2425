// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: ephemerons: each joins a key with a value. The value is reached once the ephemeron and the key are both reached.
// Invariant: a registration keeps neither the ephemeron, nor the key, nor the value. An ephemeron whose key has died is
//    no longer registered. The caller holds the lock of the collector.
// Must not know: what an ephemeron's own block holds; finalizers and links.
//
// The algorithm is that of Hayes (Ephemerons, OOPSLA 1997) with the index by key of Barros and Ierusalimschy
// (Eliminating cycles in weak tables, 2008): each ephemeron is looked at when it is reached and when its key is reached,
// so a chain of ephemerons takes time linear in its length, whatever the order of the table.
#pragma once

#include "collector/address_table.hpp"
#include "collector/marking.hpp"

namespace gr {

class Ephemerons {
  public:
    constexpr Ephemerons() = default;

    // Registers the ephemeron, or gives a registered one another key and value. false: there is no memory, and nothing
    // has changed.
    [[nodiscard]] bool set(const void *ephemeron, const void *key, const void *value);
    // false: the ephemeron was not registered.
    bool remove(const void *ephemeron) { return pairs_.remove(ephemeron); }
    // nullptr if the ephemeron is not registered.
    void *key(const void *ephemeron);
    void *value(const void *ephemeron);
    std::size_t size() const { return pairs_.size(); }
    platform::Growing memory() const { return pairs_.memory(); }

    // Ephemerons whose keys are not marked are no longer registered.
    template <Marking M>
    void clear_dead(const M &marking) {
        pairs_.remove_if([&](void *, const Pair &pair) { return !marking.is_marked(pair.key.reveal()); });
    }
    // Ephemerons that are not marked themselves are no longer registered. If none is left, the memory goes back.
    template <Marking M>
    void forget_dead(const M &marking) {
        pairs_.remove_if([&](void *ephemeron, const Pair &) { return !marking.is_marked(ephemeron); });
        if (pairs_.size() == 0) pairs_.release();
    }

  private:
    template <ObservableMarking M>
    friend class EphemeronMarking;

    struct Pair {
        Hidden key;
        Hidden value;
        Hidden next;  // ephemeron of the list that this one is in during a collection; none: the last
    };

    AddressTable<Pair> pairs_;  // by ephemeron
};

// A marking in which values count as referred to by their ephemerons: what is marked through it also marks the values of
// ephemerons whose keys are marked.
template <ObservableMarking M>
class EphemeronMarking {
  public:
    EphemeronMarking(Ephemerons &ephemerons, M &marking) : ephemerons_(ephemerons), marking_(marking) {
        marking_.observe(
            {[](void *self, const void *object) { static_cast<EphemeronMarking *>(self)->see(object); }, this});
    }
    ~EphemeronMarking() {
        marking_.observe({});
        forget_waiting();
    }
    EphemeronMarking(const EphemeronMarking &) = delete;
    EphemeronMarking &operator=(const EphemeronMarking &) = delete;

    // Once, first: for what was marked before this object was made.
    void begin() {
        ephemerons_.pairs_.for_each([&](const void *ephemeron, const auto &) {
            if (marking_.is_marked(ephemeron)) look_at(ephemeron);
        });
        mark_values();
    }
    // No key that waits will be marked any more, or its ephemeron was forgotten.
    void forget_waiting() { waiting_.release(); }

    bool is_marked(const void *p) const { return marking_.is_marked(p); }
    const void *base_of(const void *p) const { return marking_.base_of(p); }
    bool is_lost(const void *p) const { return marking_.is_lost(p); }
    platform::Range contents_of(const void *p) const { return marking_.contents_of(p); }
    void mark(const void *p) {
        marking_.mark(p);
        mark_values();
    }
    template <class Name>
    void mark_each(Name name) {
        marking_.mark_each(name);
        mark_values();
    }
    void mark_from(const void *p) {
        marking_.mark_from(p);
        mark_values();
    }
    void mark_range(platform::Range range) {
        marking_.mark_range(range);
        mark_values();
    }

  private:
    void see(const void *marked) {
        if (const Hidden *const first = waiting_.find(marked)) {
            Hidden ephemeron = *first;
            waiting_.remove(marked);
            while (!ephemeron.is_none()) {
                const Hidden next = pair(ephemeron)->next;
                add_to(&due_, ephemeron);
                ephemeron = next;
            }
        }
        if (ephemerons_.pairs_.find(marked) != nullptr) look_at(marked);
    }
    // At an ephemeron that is marked: its value is due, or waits for the key. Where there is no memory to wait the value
    // stays until a later collection finds some.
    void look_at(const void *ephemeron) {
        const Hidden hidden(ephemeron);
        const void *const key = pair(hidden)->key.reveal();
        if (marking_.is_marked(key)) return add_to(&due_, hidden);
        if (Hidden *const first = waiting_.find(key)) return add_to(first, hidden);
        pair(hidden)->next = Hidden();
        if (!waiting_.reserve(ephemerons_.size()) || !waiting_.add(key, hidden)) add_to(&due_, hidden);
    }
    void mark_values() {
        while (!due_.is_none()) {
            const Ephemerons::Pair due = *pair(due_);
            due_ = due.next;
            if (const void *const value = marking_.base_of(due.value.reveal())) marking_.mark(value);
        }
    }
    void add_to(Hidden *list, Hidden ephemeron) {
        pair(ephemeron)->next = *list;
        *list = ephemeron;
    }
    Ephemerons::Pair *pair(Hidden ephemeron) { return ephemerons_.pairs_.find(ephemeron.reveal()); }

    Ephemerons &ephemerons_;
    M &marking_;
    AddressTable<Hidden> waiting_;  // by key: the first of the ephemerons that are marked and whose key is not
    Hidden due_;                    // the first of the ephemerons whose values are to be marked
};

}  // namespace gr

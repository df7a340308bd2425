// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/gc.h for ephemerons and for tables with weak keys.
// Invariant: a collection needs the collector's lock, so what is done under it happens before or after a collection, not
//    within one. An entry of a table counts only while its ephemeron has the entry's key.
// Must not know: when an ephemeron is cleared.
#include <cerrno>
#include <utility>

#include "granary/gc.h"
#include "libgc/locked.hpp"
#include "libgc/own_objects.hpp"

// A traced object, as its entries and its array of buckets.
struct gr_gc_weak_table {
    struct Entry {
        Entry *next;
        gr_gc_ephemeron *ephemeron;
        gr::Hidden key;
    };

    Entry **buckets;
    std::size_t bucket_count;  // a power of two
    std::size_t entries;       // with those whose keys died since the table was last looked through
};

namespace {

using gr::collector;
using gr::failed;
using gr::Hidden;
using gr::is_object;
using gr::Locked;
using gr::take;
using Entry = gr_gc_weak_table::Entry;
using Table = gr_gc_weak_table;

constexpr std::size_t kFirstBuckets = 8;

gr::Ephemerons &ephemerons() { return collector.finalization().ephemerons; }

Entry **new_buckets(std::size_t count) { return static_cast<Entry **>(take(gr::kNormal, count * sizeof(Entry *))); }

// Addresses differ where a multiplication carries into the high bits.
Entry **bucket_of(Entry **buckets, std::size_t count, Hidden key) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return &buckets[key.bits() * kGoldenRatio >> 32 & (count - 1)];
}

bool is_dead(const Entry &entry) { return ephemerons().key(entry.ephemeron) != entry.key.reveal(); }

void unlink(Table *table, Entry **place) {
    *place = (*place)->next;
    --table->entries;
}

// With the lock: the place that refers to the key's entry; nullptr: there is none. An entry of a dead object that had
// this address before is removed.
Entry **find(Table *table, const void *key) {
    const Hidden hidden(key);
    for (Entry **place = bucket_of(table->buckets, table->bucket_count, hidden); *place != nullptr;) {
        if ((*place)->key != hidden) {
            place = &(*place)->next;
        } else if (is_dead(**place)) {
            unlink(table, place);
        } else {
            return place;
        }
    }
    return nullptr;
}

// With the lock.
void remove_dead(Table *table) {
    for (std::size_t i = 0; i < table->bucket_count; ++i) {
        for (Entry **place = &table->buckets[i]; *place != nullptr;) {
            if (is_dead(**place)) {
                unlink(table, place);
            } else {
                place = &(*place)->next;
            }
        }
    }
}

// With the lock.
void move_to(Table *table, Entry **buckets, std::size_t count) {
    for (std::size_t i = 0; i < table->bucket_count; ++i) {
        while (Entry *const entry = table->buckets[i]) {
            table->buckets[i] = entry->next;
            Entry **const place = bucket_of(buckets, count, entry->key);
            entry->next = std::exchange(*place, entry);
        }
    }
    table->buckets = buckets;
    table->bucket_count = count;
}

// Memory is taken without the lock: a collection may call procedures of the program. Where there is none the table stays
// as wide as it is.
void widen_if_full(Table *table) {
    std::size_t wanted = 0;
    {
        const Locked locked;
        if (table->entries < table->bucket_count) return;
        remove_dead(table);
        if (table->entries < table->bucket_count / 2) return;
        wanted = 2 * table->bucket_count;
    }
    Entry **const buckets = new_buckets(wanted);
    const Locked locked;
    if (buckets != nullptr && table->bucket_count < wanted) move_to(table, buckets, wanted);
}

// With the lock. false: the table has no entry of the key.
bool replace(Table *table, const void *key, const void *value) {
    Entry **const place = find(table, key);
    return place != nullptr && ephemerons().set((*place)->ephemeron, key, value);
}

}  // namespace

extern "C" {

gr_gc_ephemeron *gr_gc_ephemeron_new(const void *key, const void *value) {
    if (!is_object(key)) {
        errno = EINVAL;
        return nullptr;
    }
    void *const made = take(gr::kAtomic, sizeof(void *));
    if (made == nullptr) return nullptr;
    const Locked locked;
    if (ephemerons().set(made, key, value)) return static_cast<gr_gc_ephemeron *>(made);
    gr::free(made);
    errno = ENOMEM;
    return nullptr;
}

void *gr_gc_ephemeron_key(const gr_gc_ephemeron *ephemeron) {
    const Locked locked;
    return ephemerons().key(ephemeron);
}
void *gr_gc_ephemeron_value(const gr_gc_ephemeron *ephemeron) {
    const Locked locked;
    return ephemerons().value(ephemeron);
}
void gr_gc_ephemeron_clear(gr_gc_ephemeron *ephemeron) {
    const Locked locked;
    ephemerons().remove(ephemeron);
}

gr_gc_weak_table *gr_gc_weak_table_new() {
    Entry **const buckets = new_buckets(kFirstBuckets);
    if (buckets == nullptr) return nullptr;
    auto *const table = static_cast<Table *>(take(gr::kNormal, sizeof(Table)));
    if (table != nullptr) *table = {buckets, kFirstBuckets, 0};
    return table;
}

int gr_gc_weak_table_set(gr_gc_weak_table *table, const void *key, const void *value) {
    if (!is_object(key)) return failed(EINVAL);
    {
        const Locked locked;
        if (replace(table, key, value)) return 0;
    }
    widen_if_full(table);
    auto *const entry = static_cast<Entry *>(take(gr::kNormal, sizeof(Entry)));
    if (entry == nullptr) return -1;
    gr_gc_ephemeron *const ephemeron = gr_gc_ephemeron_new(key, value);
    if (ephemeron == nullptr) return -1;
    const Locked locked;
    if (replace(table, key, value)) return 0;  // another thread was faster
    Entry **const place = bucket_of(table->buckets, table->bucket_count, Hidden(key));
    *entry = {std::exchange(*place, entry), ephemeron, Hidden(key)};
    ++table->entries;
    return 0;
}

void *gr_gc_weak_table_get(gr_gc_weak_table *table, const void *key) {
    const Locked locked;
    Entry **const place = find(table, key);
    return place != nullptr ? ephemerons().value((*place)->ephemeron) : nullptr;
}

int gr_gc_weak_table_remove(gr_gc_weak_table *table, const void *key) {
    const Locked locked;
    Entry **const place = find(table, key);
    if (place == nullptr) return 0;
    ephemerons().remove((*place)->ephemeron);
    unlink(table, place);
    return 1;
}

std::size_t gr_gc_weak_table_count(gr_gc_weak_table *table) {
    const Locked locked;
    remove_dead(table);
    return table->entries;
}

}  // extern "C"

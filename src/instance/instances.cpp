// SPDX-License-Identifier: Apache-2.0 OR MIT
// Fork takes the locks of all instances rank by rank, so that it waits only upwards, as every thread does.

#include "instance/instances.hpp"

#include <new>

#include "heap/misuse.hpp"
#include "platform/memory.hpp"
#include "platform/reentry.hpp"

namespace gr {

constinit Instances instances;

gr_heap *Instances::make(std::size_t region_bytes, const char *free_function) {
    instance.ensure_started();  // start_beside copies its options
    if (platform::Reentry::is_interrupted()) return nullptr;
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return nullptr;
    void *const pages = platform::map(sizeof(gr_heap), 1);
    if (pages == nullptr) return nullptr;
    gr_heap *const heap = ::new (pages) gr_heap;
    if (!heap->instance.start_beside(instance, region_bytes, free_function)) {
        platform::unmap(pages, sizeof(gr_heap));
        return nullptr;
    }
    heap->instance.next() = first_;
    first_ = &heap->instance;
    return heap;
}

void Instances::add(Instance &other) {
    mutex_.lock_always(kRank);
    other.next() = first_;
    first_ = &other;
    mutex_.unlock(kRank);
}

void Instances::destroy(const char *function, gr_heap *heap) {
    if (platform::Reentry::is_interrupted()) die_interrupted(function, heap);
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) die_interrupted(function, heap);
    Instance **link = &first_;
    while (*link != &heap->instance && *link != nullptr) link = &(*link)->next();
    if (*link == nullptr) die_no_heap(function, heap);
    *link = heap->instance.next();
    heap->instance.end();
    platform::unmap(heap, sizeof(gr_heap));
}

void Instances::lock_all() {
    if (mutex_.held_by_me()) {
        ++forks_within_;
        return;
    }
    if (platform::Reentry::is_interrupted()) return;
    mutex_.lock_always(kRank);
    for (const platform::Rank rank : Instance::kRanks) {
        for_each([rank](Instance &i) { i.lock_all(rank); });
    }
}

void Instances::unlock_all() {
    if (!mutex_.held_by_me()) return;
    if (forks_within_ != 0) {
        --forks_within_;
        return;
    }
    const platform::Reentry entry;  // a handler that interrupts this must not wait for a lock
    for (auto rank = Instance::kRanks.rbegin(); rank != Instance::kRanks.rend(); ++rank) {
        for_each([rank](Instance &i) { i.unlock_all(*rank); });
    }
    for_each([](Instance &i) { i.settle_all(); });
    mutex_.unlock(kRank);
}

void Instances::forget_other_threads() {
    for_each([](Instance &i) { i.forget_other_threads(); });
}

void Instances::die_outside(const Instance &asked, const char *function, const void *p) {
    const bool locked = platform::Reentry::is_interrupted() ? mutex_.try_lock(kRank) : mutex_.lock(kRank);
    const Instance *owner = nullptr;
    if (locked) {
        for_each([&](const Instance &i) {
            if (i.contains(p)) owner = &i;
        });
        mutex_.unlock(kRank);
    }
    if (owner == nullptr || owner == &asked) die_foreign(function, p);
    if (owner == &instance || owner == instance.companion()) die_of_malloc(function, p);
    die_of_first_class(function, p);
}

const char *Instances::first_fault() {
    constexpr const char *kInterrupted = "unknown: called by a signal handler that interrupted the allocator";
    if (platform::Reentry::is_interrupted()) return kInterrupted;
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return kInterrupted;
    const char *fault = nullptr;
    for_each([&](Instance &i) {
        if (fault == nullptr) fault = i.first_fault();
    });
    return fault;
}

}  // namespace gr

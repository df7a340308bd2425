// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/gc.h.
// Invariant: they keep what the header promises. They share kinds, finalizers and settings with the functions of
//    libgc.so.1.
// Must not know: how objects are found and collected.
#include "granary/gc.h"

#include <cerrno>
#include <cstring>

#include "libgc/finalizing.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/own_objects.hpp"
#include "libgc/typed.hpp"

namespace {

using gr::collector;
using gr::failed;
using gr::is_object;
using gr::kOnePastEnd;
using gr::Locked;
using gr::take;

gr_gc_statistics count() {
    const Locked locked;
    const gr::CollectionReport &last = collector.last();
    const gr::Finalization &finalization = collector.finalization();
    return {.size = 0,
            .version = GR_GC_STATISTICS_VERSION,
            .collections = last.number,
            .held_bytes = collector.present_bytes(),
            .due_bytes = collector.pace().due_at(),
            .live_bytes = last.live_bytes,
            .live_blocks = last.live_blocks,
            .freed_blocks = last.freed_blocks,
            .stopped_nanoseconds = last.stopped_nanoseconds,
            .finalizers = finalization.finalizers.registered(),
            .queued_finalizers = finalization.finalizers.queued(),
            .weak_links = finalization.short_links.size(),
            .ephemerons = finalization.ephemerons.size()};
}

}  // namespace

extern "C" {

int gr_gc_init() {
    if (!gr::is_initialised() && !gr::start_kinds(gr::default_suspend_signal())) return failed(ENOMEM);
    gr::ensure_initialised();
    return 0;
}

void *gr_gc_malloc(std::size_t size) { return take(gr::kNormal, size); }
void *gr_gc_malloc_atomic(std::size_t size) { return take(gr::kAtomic, size); }
void *gr_gc_malloc_uncollectable(std::size_t size) { return take(gr::kUncollectable, size); }

void *gr_gc_realloc(void *block, std::size_t size) {
    if (block == nullptr) return gr_gc_malloc(size);
    if (size == 0) {
        gr_gc_free(block);
        return nullptr;
    }
    const gr::BlockAt at = collector.block_at(block);
    void *const p = at.begin == block && gr::tail_bytes(at) != 0
                        ? gr::resize_typed(at, size)
                        : gr::resize_block("gr_gc_realloc", block, size, kOnePastEnd);
    if (p == nullptr) errno = ENOMEM;
    return p;
}

void gr_gc_free(void *block) { gr::free(block); }

void *gr_gc_base(const void *address) { return collector.block_at(address).begin; }
std::size_t gr_gc_size(const void *block) {
    const gr::BlockAt at = collector.block_at(block);
    if (block == nullptr || at.begin != block) return 0;
    const std::size_t tail = gr::tail_bytes(at);
    return tail != 0 ? at.bytes - tail : at.usable() - kOnePastEnd;
}

int gr_gc_collect() { return GC_try_to_collect(nullptr); }
int gr_gc_collect_beside() {
    const Locked locked;
    return collector.enable_incremental() == nullptr ? 0 : failed(ENOSYS);
}
int gr_gc_collect_generations() {
    const Locked locked;
    return collector.enable_generations() == nullptr ? 0 : failed(ENOSYS);
}
int gr_gc_collect_young() { return collector.collect_young().done ? 1 : 0; }
int gr_gc_set_policy(const char *name) {
    const Locked locked;
    for (std::size_t i = 0; name != nullptr && i < gr::kGcPolicies; ++i) {
        if (std::strcmp(name, gr::kGcPolicyWords[i]) != 0) continue;
        collector.pace().set_policy(static_cast<gr::GcPolicy>(i));
        return 0;
    }
    return failed(EINVAL);
}
void gr_gc_disable() { GC_disable(); }
void gr_gc_enable() { GC_enable(); }

int gr_gc_on_collect(void *object, void (*call)(void *object, void *data), void *data) {
    if (!is_object(object)) return failed(EINVAL);
    const Locked locked;
    const bool done =
        collector.finalization().finalizers.set(object, {call, data, gr::FinalizationOrder::normal}).has_value();
    return done ? 0 : failed(ENOMEM);
}

int gr_gc_weak_link(void **link, const void *object) {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(link) % alignof(void *) == 0;
    if (link == nullptr || !is_aligned || !is_object(object)) return failed(EINVAL);
    const Locked locked;
    return collector.finalization().short_links.add(link, object) != gr::LinkResult::no_memory ? 0 : failed(ENOMEM);
}
int gr_gc_weak_unlink(void **link) {
    const Locked locked;
    return collector.finalization().short_links.remove(link) ? 1 : 0;
}
void *gr_gc_weak_get(void *const *link) {
    const Locked locked;
    return *static_cast<void *const volatile *>(link);
}

int gr_gc_add_roots(const void *begin, const void *end) {
    const Locked locked;
    const bool done = collector.roots().add({static_cast<const char *>(begin), static_cast<const char *>(end)});
    return done ? 0 : failed(ENOMEM);
}
void gr_gc_remove_roots(const void *begin, const void *end) {
    const Locked locked;
    collector.roots().remove({static_cast<const char *>(begin), static_cast<const char *>(end)});
}

int gr_gc_statistics_get(gr_gc_statistics *out) {
    constexpr std::size_t kHead = 8;
    if (out == nullptr || out->size < kHead) return failed(EINVAL);
    gr_gc_statistics all = count();
    all.size = out->size < sizeof all ? out->size : static_cast<std::uint32_t>(sizeof all);
    std::memcpy(out, &all, all.size);
    return 0;
}

}  // extern "C"

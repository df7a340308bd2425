// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/gc.h.
// Invariant: as promised there; they share kinds, finalizers and settings with the functions of libgc.so.1.
// Must not know: how anything is found or collected.
#include "granary/gc.h"

#include <cerrno>

#include "libgc/allocation.hpp"
#include "libgc/finalizing.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"

namespace {

using gr::collector;
using gr::Locked;

constexpr std::size_t kOnePastEnd = 1;

int failed(int error) {
    errno = error;
    return -1;
}

// Without the out-of-memory function of libgc's clients.
void *take(unsigned number, std::size_t size) {
    gr::Kind &kind = gr::kind_of_number(number);
    void *const p = size > PTRDIFF_MAX ? nullptr : collector.allocate(kind, size + kOnePastEnd, kOnePastEnd);
    if (p == nullptr) errno = ENOMEM;
    return p;
}

bool is_object(const void *p) { return p != nullptr && collector.block_at(p).begin == p; }

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
            .weak_links = finalization.short_links.size()};
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
    void *const p = gr::resize_block("gr_gc_realloc", block, size, kOnePastEnd);
    if (p == nullptr) errno = ENOMEM;
    return p;
}

void gr_gc_free(void *block) { gr::free(block); }

void *gr_gc_base(const void *address) { return collector.block_at(address).begin; }
std::size_t gr_gc_size(const void *block) {
    return is_object(block) ? collector.block_at(block).usable() - kOnePastEnd : 0;
}

int gr_gc_collect() { return GC_try_to_collect(nullptr); }
int gr_gc_collect_beside() {
    const Locked locked;
    return collector.enable_incremental() == nullptr ? 0 : failed(ENOSYS);
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

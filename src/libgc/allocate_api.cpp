// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's functions that allocate and free objects.
// Invariant: if there is no memory, a function returns what the client's out-of-memory function returns.
// Must not know: how blocks are found, and when they are collected.
#include <cerrno>
#include <span>

#include "libgc/allocation.hpp"
#include "libgc/functions.hpp"
#include "libgc/text_copies.hpp"
#include "platform/libc_rules.hpp"

namespace {

using gr::allocate;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostInChain = kPage / gr::kFineStep;

unsigned number(int kind) { return static_cast<unsigned>(kind); }

// Makes about a page of objects, each of which refers to the next; *list is nullptr if there is no memory for one. This
// frame keeps the objects until they are linked, and those of a kind that is not scanned until *list has them.
void make_chain(std::size_t bytes, unsigned kind, void **list) {
    gr::Kind &of = gr::kind_of_number(kind);
    void *objects[kMostInChain];
    const std::span<void *> wanted(&objects[0], bytes < kPage ? kPage / bytes : 1);
    std::size_t count = 0;
    while (count < wanted.size()) {
        const std::size_t more = gr::collector.allocate_some(of, bytes, wanted.subspan(count));
        if (more == 0) break;
        count += more;
    }
    void *first = nullptr;
    for (std::size_t i = count; i-- != 0;) {
        *static_cast<void **>(objects[i]) = first;
        first = objects[i];
    }
    *list = first;
}

void *aligned(std::size_t alignment, std::size_t size) {
    if (alignment <= gr::kFineStep) return allocate(gr::kNormal, size);
    if (alignment > kPage || !gr::is_power_of_two(alignment) || size > PTRDIFF_MAX) return gr::now(GC_oom_fn)(size);
    gr::Kind &kind = gr::kind_of_number(gr::kNormal);
    const std::size_t more = gr::has_more() ? 1 : 0;
    void *const p = gr::collector.allocate_aligned(kind, size + more, alignment, more);
    return p != nullptr ? p : gr::now(GC_oom_fn)(size);
}

}  // namespace

extern "C" {

// GC_free and the functions that allocate from the standard kinds begin in assembly.
void *gr_gc_malloc_slow(std::size_t size) { return allocate(gr::kNormal, size); }
void *gr_gc_malloc_atomic_slow(std::size_t size) { return allocate(gr::kAtomic, size); }
void *gr_gc_malloc_uncollectable_slow(std::size_t size) { return allocate(gr::kUncollectable, size); }
void *gr_gc_malloc_atomic_uncollectable_slow(std::size_t size) { return allocate(gr::kAtomicUncollectable, size); }
void gr_gc_free_slow(void *p) { gr::free(p); }

GR_EXPORT void *GC_malloc_kind(std::size_t size, int kind) { return allocate(number(kind), size); }
GR_EXPORT void *GC_malloc_kind_global(std::size_t size, int kind) { return allocate(number(kind), size); }
GR_EXPORT void *GC_generic_malloc(std::size_t size, int kind) { return allocate(number(kind), size); }
GR_EXPORT void *GC_generic_malloc_ignore_off_page(std::size_t size, int kind) { return allocate(number(kind), size); }
GR_EXPORT void *GC_generic_malloc_uncollectable(std::size_t size, int kind) { return allocate(number(kind), size); }
GR_EXPORT void *GC_generic_or_special_malloc(std::size_t size, int kind) { return allocate(number(kind), size); }

GR_EXPORT void *GC_malloc_many(std::size_t size) {
    gr::ensure_initialised();
    if (size > PTRDIFF_MAX) return nullptr;
    const std::size_t bytes = size + (gr::has_more() ? 1 : 0);
    void *chain = nullptr;
    make_chain(gr::align_up(bytes == 0 ? 1 : bytes, gr::kFineStep), gr::kNormal, &chain);
    return chain;
}
GR_EXPORT void GC_generic_malloc_many(std::size_t size, int kind, void **list) {
    if (size > PTRDIFF_MAX) {
        *list = nullptr;
    } else {
        make_chain(size, number(kind), list);
    }
}

GR_EXPORT void *GC_realloc(void *p, std::size_t size) {
    if (p == nullptr) return allocate(gr::kNormal, size);
    if (size == 0) {
        gr::free(p);
        return nullptr;
    }
    void *const resized = gr::resize_block("GC_realloc", p, size, gr::has_more() ? 1 : 0);
    return resized != nullptr ? resized : gr::now(GC_oom_fn)(size);
}

GR_EXPORT char *GC_strndup(const char *text, std::size_t most) {
    return gr::copy_of_text(text, most, [](std::size_t bytes) { return allocate(gr::kAtomic, bytes); });
}
GR_EXPORT char *GC_strdup(const char *text) {
    if (text == nullptr) return nullptr;
    return gr::copy_of_text(text, SIZE_MAX, [](std::size_t bytes) { return allocate(gr::kAtomic, bytes); });
}

GR_EXPORT void *GC_memalign(std::size_t alignment, std::size_t size) { return aligned(alignment, size); }
GR_EXPORT int GC_posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    if (!gr::is_posix_alignment(alignment)) return EINVAL;
    void *const p = aligned(alignment, size);
    if (p == nullptr) return ENOMEM;
    *out = p;
    return 0;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libc's allocation family, each name by way of the recorder to the allocator's own.
// Invariant: what a name does is what the allocator's does; where there is only one to call, it is the last thing done.
// Must not know: how calls are recorded.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>

#include "granary/granary.h"
#include "platform/libc_rules.hpp"
#include "recorder/calls.hpp"

namespace {

using gr::Kind;
using gr::next;

// Before this library is relocated there is no memcpy, nor may a compiler make one of it.
void copy(volatile char *to, const volatile char *from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

// Out of early memory, which no allocator knows: the block is copied, and stays.
void *moved(const void *old, std::size_t size) {
    void *const p = malloc(size);
    const std::size_t readable = gr::early_memory.bytes_from(old);
    if (p != nullptr) copy(static_cast<char *>(p), static_cast<const char *>(old), size < readable ? size : readable);
    return p;
}

template <class Resize>
[[gnu::always_inline]] inline void *resized(void *old, std::size_t size, Resize by) {
    if (gr::early_memory.contains(old)) [[unlikely]]
        return moved(old, size);
    return gr::resize(old, size, [=] { return (*by)(old, size); });
}

template <class Align>
[[gnu::always_inline]] inline void *aligned(std::size_t alignment, std::size_t size, Align by) {
    return gr::obtain({Kind::aligned_alloc, size, alignment}, [=] { return (*by)(alignment, size); });
}

template <class Align>
[[gnu::always_inline]] inline int aligned_into(void **out, std::size_t alignment, std::size_t size, Align by) {
    int error = ENOMEM;
    const auto ask = [&error, alignment, size, by] {
        void *p = nullptr;
        error = (*by)(&p, alignment, size);
        return error == 0 ? p : nullptr;
    };
    void *const p = gr::obtain({Kind::aligned_alloc, size, alignment}, ask);
    if (p == nullptr && error != 0) return error;
    *out = p;
    return 0;
}

template <class Ask>
[[gnu::always_inline]] inline void *of_pages(std::size_t size, Ask by) {
    return gr::obtain({Kind::aligned_alloc, size, gr::platform::page_size()}, [=] { return (*by)(size); });
}

}  // namespace

extern "C" {

GR_EXPORT void *malloc(std::size_t size) {
    return gr::obtain({Kind::malloc, size}, [=] { return next.malloc(size); });
}
GR_EXPORT void *calloc(std::size_t count, std::size_t size) {
    return gr::obtain({Kind::calloc, gr::array_bytes(count, size)}, [=] { return next.calloc(count, size); });
}
GR_EXPORT void *realloc(void *p, std::size_t size) { return resized(p, size, &next.realloc); }
GR_EXPORT void *reallocarray(void *p, std::size_t count, std::size_t size) {
    return resized(p, gr::array_bytes(count, size), &next.realloc);
}
GR_EXPORT void *memalign(std::size_t alignment, std::size_t size) { return aligned(alignment, size, &next.memalign); }
GR_EXPORT void *aligned_alloc(std::size_t alignment, std::size_t size) {
    return aligned(alignment, size, &next.aligned_alloc);
}
GR_EXPORT int posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return aligned_into(out, alignment, size, &next.posix_memalign);
}
GR_EXPORT void *valloc(std::size_t size) { return of_pages(size, &next.valloc); }
GR_EXPORT void *pvalloc(std::size_t size) { return of_pages(size, &next.pvalloc); }

GR_EXPORT void free(void *p) {
    gr::release(Kind::free, p, [](void *block) { next.free(block); });
}
GR_EXPORT void cfree(void *p) {
    gr::release(Kind::free, p, [](void *block) { next.free(block); });
}
GR_EXPORT void free_sized(void *p, std::size_t size) {
    gr::release(Kind::free, p, [=](void *block) { next.free_sized(block, size); });
}
GR_EXPORT void free_aligned_sized(void *p, std::size_t alignment, std::size_t size) {
    gr::release(Kind::free, p, [=](void *block) { next.free_aligned_sized(block, alignment, size); });
}

GR_EXPORT void *__libc_malloc(std::size_t size) {
    return gr::obtain({Kind::malloc, size}, [=] { return next.libc_malloc(size); });
}
GR_EXPORT void *__libc_calloc(std::size_t count, std::size_t size) {
    return gr::obtain({Kind::calloc, gr::array_bytes(count, size)}, [=] { return next.libc_calloc(count, size); });
}
GR_EXPORT void *__libc_realloc(void *p, std::size_t size) { return resized(p, size, &next.libc_realloc); }
GR_EXPORT void *__libc_memalign(std::size_t alignment, std::size_t size) {
    return aligned(alignment, size, &next.libc_memalign);
}
GR_EXPORT void *__libc_valloc(std::size_t size) { return of_pages(size, &next.libc_valloc); }
GR_EXPORT void *__libc_pvalloc(std::size_t size) { return of_pages(size, &next.libc_pvalloc); }
GR_EXPORT int __posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return aligned_into(out, alignment, size, &next.libc_posix_memalign);
}
GR_EXPORT void __libc_free(void *p) {
    gr::release(Kind::free, p, [](void *block) { next.libc_free(block); });
}

}  // extern "C"

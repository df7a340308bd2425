// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgccpp.so.1: C++'s operators new and delete on libgc's memory. Only delete frees such a block.
// Invariant: it is a library of its own that imports two functions of libgc.so.1; so it may throw exceptions.
// Must not know: how libgc allocates.
#include <new>

#include "granary/granary.h"

extern "C" {
void *GC_malloc_uncollectable(std::size_t size);
void GC_free(void *p);
}

[[noreturn]] GR_EXPORT void GC_throw_bad_alloc();
void GC_throw_bad_alloc() { throw std::bad_alloc(); }

GR_EXPORT void *operator new(std::size_t size) {
    void *const p = GC_malloc_uncollectable(size);
    if (p == nullptr) GC_throw_bad_alloc();
    return p;
}
GR_EXPORT void *operator new[](std::size_t size) { return ::operator new(size); }

GR_EXPORT void operator delete(void *p) noexcept { GC_free(p); }
GR_EXPORT void operator delete[](void *p) noexcept { GC_free(p); }
GR_EXPORT void operator delete(void *p, std::size_t) noexcept { GC_free(p); }
GR_EXPORT void operator delete[](void *p, std::size_t) noexcept { GC_free(p); }

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The family behaves like glibc's where libcs differ. A failure sets errno; free and success never touch it.

#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "base/bits.hpp"
#include "malloc/c_api.hpp"
#include "malloc/requests.hpp"
#include "malloc/sampled.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace {

using gr::or_enomem;

void *aligned(std::size_t alignment, std::size_t size, const void *caller) {
    const std::size_t rounded = gr::rounded_alignment(alignment);
    return rounded == 0 ? nullptr : or_enomem(gr::allocate_for_program(size, rounded, caller));
}

// The fast path of the coarse classes, which the assembly leaves out because their class takes more arithmetic; and the
// slow path of all classes. Not inlined, so that calls that do not come here need no stack frame.
[[gnu::noinline]] void *of_class(gr::ClassIndex c) {
    if (void *const p = gr::pop_cached(c)) return p;
    return or_enomem(gr::instance.allocate_uncached(c));
}

void *zeroed(std::size_t count, std::size_t size, const void *caller) {
    const std::size_t bytes = gr::array_bytes(count, size);
    // Before relocation there is no memset, and every block comes fresh from the kernel.
    if (!gr::platform::is_relocated()) return or_enomem(gr::instance.allocate(bytes));
    if (gr::sampled.is_counting()) [[unlikely]]
        return or_enomem(gr::sampled.allocate_zeroed(bytes, 1, caller));
    if (bytes > gr::kFineLimit) return or_enomem(gr::instance.allocate_zeroed(bytes));
    void *const p = gr_own_malloc(bytes);
    return p == nullptr ? nullptr : std::memset(p, 0, bytes);
}

void *resized(void *p, std::size_t size, const void *caller) {
    const auto allocate = [=] {
        return gr::sampled.is_counting() ? or_enomem(gr::sampled.allocate(size, 1, caller)) : gr_own_malloc(size);
    };
    const auto resize = [=] {
        constexpr const char *kFunction = "realloc";
        if (gr::sampled.is_on()) return or_enomem(gr::sampled.resize(kFunction, p, size, caller));
        return or_enomem(gr::instance.resize(kFunction, p, size));
    };
    return gr::reallocate(
        p, size, allocate, [=] { gr_own_free(p); }, resize);
}

}  // namespace

extern "C" {

void *gr_malloc_slow(std::size_t size) {
    // If the entry serves no size, there are no sequences, or requests are counted, or new blocks are filled.
    if (size - 1 < gr::kClassLimit && gr::platform::entry_allocates()) return of_class(gr::class_of(size));
    if (gr::sampled.is_counting()) [[unlikely]]
        return or_enomem(gr::sampled.allocate(size, 1, __builtin_return_address(0)));
    return or_enomem(gr::instance.allocate(size));
}

void gr_free_slow(void *p) {
    if (p == nullptr) return;
    constexpr const char *kFunction = "free";
    if (gr::sampled.is_on()) [[unlikely]]
        return gr::sampled.free(kFunction, p);
    gr::instance.free(kFunction, p);
}

GR_EXPORT void *calloc(std::size_t count, std::size_t size) { return zeroed(count, size, __builtin_return_address(0)); }

// Not inlined into reallocarray: valgrind 3.19 replaces realloc, but not reallocarray, which must not receive a block of
// valgrind's own.
[[gnu::noinline]] GR_EXPORT void *realloc(void *p, std::size_t size) {
    return resized(p, size, __builtin_return_address(0));
}

GR_EXPORT void *reallocarray(void *p, std::size_t count, std::size_t size) {
    return realloc(p, gr::array_bytes(count, size));
}

GR_EXPORT void *memalign(std::size_t alignment, std::size_t size) {
    return aligned(alignment, size, __builtin_return_address(0));
}

GR_EXPORT void *aligned_alloc(std::size_t alignment, std::size_t size) {
    return aligned(alignment, size, __builtin_return_address(0));
}

GR_EXPORT int posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    if (!gr::is_posix_alignment(alignment)) return EINVAL;
    void *const p = gr::allocate_for_program(size, alignment, __builtin_return_address(0));
    if (p == nullptr) return ENOMEM;
    *out = p;
    return 0;
}

// Not inlined into pvalloc: valgrind replaces valloc, but not pvalloc.
[[gnu::noinline]] GR_EXPORT void *valloc(std::size_t size) {
    return aligned(gr::platform::page_size(), size, __builtin_return_address(0));
}

GR_EXPORT void *pvalloc(std::size_t size) { return valloc(gr::whole_pages(size)); }  // NOLINT(concurrency-mt-unsafe)

GR_EXPORT std::size_t malloc_usable_size(void *p) {
    return p == nullptr ? 0 : gr::instance_of(p).usable_size("malloc_usable_size", p);
}

// Names that glibc exports in addition, for programs that wrap malloc by hand. This valloc is safe in threads.
GR_EXPORT void *__libc_calloc(std::size_t count, std::size_t size) {
    return zeroed(count, size, __builtin_return_address(0));
}
GR_EXPORT void *__libc_realloc(void *p, std::size_t size) { return resized(p, size, __builtin_return_address(0)); }
GR_EXPORT void *__libc_memalign(std::size_t alignment, std::size_t size) {
    return aligned(alignment, size, __builtin_return_address(0));
}
GR_EXPORT void *__libc_valloc(std::size_t size) { return valloc(size); }  // NOLINT(concurrency-mt-unsafe)
GR_EXPORT void *__libc_pvalloc(std::size_t size) { return pvalloc(size); }
GR_EXPORT int __posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return posix_memalign(out, alignment, size);
}

// Granary's own names; those of malloc and free are in the assembly file.
[[gnu::alias("calloc")]] GR_EXPORT void *gr_calloc(std::size_t count, std::size_t size);
[[gnu::alias("realloc")]] GR_EXPORT void *gr_realloc(void *p, std::size_t size);
[[gnu::alias("reallocarray")]] GR_EXPORT void *gr_reallocarray(void *p, std::size_t count, std::size_t size);
[[gnu::alias("aligned_alloc")]] GR_EXPORT void *gr_aligned_alloc(std::size_t alignment, std::size_t size);
[[gnu::alias("posix_memalign")]] GR_EXPORT int gr_posix_memalign(void **out, std::size_t alignment, std::size_t size);
[[gnu::alias("malloc_usable_size")]] GR_EXPORT std::size_t gr_malloc_usable_size(void *p);

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the C library's allocation family, and the slow paths that the assembly entries malloc and free jump to.
// Invariant: as glibc where libcs differ; a failure sets errno, free and success never touch it.
// Must not know: how blocks are found.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "base/bits.hpp"
#include "malloc/c_api.hpp"
#include "malloc/requests.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace {

using gr::or_enomem;

void *aligned(std::size_t alignment, std::size_t size) { return gr::allocate_aligned(gr::instance, alignment, size); }

void *zeroed(std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return or_enomem(nullptr);
    // Before relocation there is no memset, and every block comes fresh from the kernel.
    if (!gr::platform::is_relocated()) return or_enomem(gr::instance.allocate(bytes));
    if (bytes > gr::kFineLimit) return or_enomem(gr::instance.allocate_zeroed(bytes));
    void *const p = gr_malloc(bytes);
    return p == nullptr ? nullptr : std::memset(p, 0, bytes);
}

void *resized(void *p, std::size_t size) {
    if (p == nullptr) return gr_malloc(size);
    if (size == 0) {
        gr_free(p);
        return nullptr;
    }
    return or_enomem(gr::instance.resize("realloc", p, size));
}

}  // namespace

extern "C" {

void *gr_malloc_slow(std::size_t size) {
    // The coarse classes' fast path: what keeps it from the assembly is only the arithmetic of their class.
    if (size - 1 < gr::kClassLimit && gr::platform::gr_sequence_state.size_limit != 0) {
        const std::uint32_t magazine = gr::magazine_of(gr::class_of(size));
        if (void *const p = gr::platform::gr_sequence_pop(magazine, &gr::platform::gr_sequence_state.slabs)) return p;
    }
    return or_enomem(gr::instance.allocate(size));
}

void gr_free_slow(void *p) {
    if (p != nullptr) gr::instance.free("free", p);
}

GR_EXPORT void *calloc(std::size_t count, std::size_t size) { return zeroed(count, size); }

GR_EXPORT void *realloc(void *p, std::size_t size) { return resized(p, size); }

GR_EXPORT void *reallocarray(void *p, std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return or_enomem(nullptr);
    return resized(p, bytes);
}

GR_EXPORT void *memalign(std::size_t alignment, std::size_t size) { return aligned(alignment, size); }

GR_EXPORT void *aligned_alloc(std::size_t alignment, std::size_t size) { return aligned(alignment, size); }

GR_EXPORT int posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    if (!gr::is_power_of_two(alignment) || alignment % sizeof(void *) != 0) return EINVAL;
    void *const p = gr::instance.allocate_aligned(size, alignment);
    if (p == nullptr) return ENOMEM;
    *out = p;
    return 0;
}

GR_EXPORT void *valloc(std::size_t size) { return aligned(gr::platform::page_size(), size); }

GR_EXPORT void *pvalloc(std::size_t size) {
    const std::size_t page = gr::platform::page_size();
    if (size > gr::kMaxRequest) return or_enomem(nullptr);
    return aligned(page, gr::align_up(size, page));
}

GR_EXPORT std::size_t malloc_usable_size(void *p) {
    return p == nullptr ? 0 : gr::instance.usable_size("malloc_usable_size", p);
}

// What glibc exports under its own names too, for programs that wrap malloc by hand. This valloc is safe in threads.
GR_EXPORT void *__libc_calloc(std::size_t count, std::size_t size) { return zeroed(count, size); }
GR_EXPORT void *__libc_realloc(void *p, std::size_t size) { return resized(p, size); }
GR_EXPORT void *__libc_memalign(std::size_t alignment, std::size_t size) { return aligned(alignment, size); }
GR_EXPORT void *__libc_valloc(std::size_t size) { return valloc(size); }  // NOLINT(concurrency-mt-unsafe)
GR_EXPORT void *__libc_pvalloc(std::size_t size) { return pvalloc(size); }
GR_EXPORT int __posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return posix_memalign(out, alignment, size);
}

}  // extern "C"

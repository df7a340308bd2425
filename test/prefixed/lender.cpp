// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      libc's names of the allocation family, each of which calls its namesake of libgranary-prefixed.
// Invariant: no name has code of its own, so what is tested under a name is the namesake.
// Must not know: the library, beyond its header.
#include <granary/malloc.h>

#include <unistd.h>
#include <cstddef>
#include <cstdint>

extern "C" {

GR_EXPORT void *malloc(std::size_t size) { return gr_malloc(size); }
GR_EXPORT void *calloc(std::size_t count, std::size_t size) { return gr_calloc(count, size); }
GR_EXPORT void *realloc(void *block, std::size_t size) { return gr_realloc(block, size); }
GR_EXPORT void *reallocarray(void *block, std::size_t count, std::size_t size) {
    return gr_reallocarray(block, count, size);
}
GR_EXPORT void *aligned_alloc(std::size_t alignment, std::size_t size) { return gr_aligned_alloc(alignment, size); }
GR_EXPORT void *memalign(std::size_t alignment, std::size_t size) { return gr_aligned_alloc(alignment, size); }
GR_EXPORT int posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return gr_posix_memalign(out, alignment, size);
}
GR_EXPORT void *valloc(std::size_t size) {
    return gr_aligned_alloc(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), size);
}
GR_EXPORT void *pvalloc(std::size_t size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t pages = size / page + (size % page == 0 ? 0 : 1);
    return gr_aligned_alloc(page, pages > PTRDIFF_MAX / page ? SIZE_MAX : pages * page);
}
GR_EXPORT std::size_t malloc_usable_size(void *block) { return gr_malloc_usable_size(block); }
GR_EXPORT void free(void *block) { gr_free(block); }
GR_EXPORT void cfree(void *block);
GR_EXPORT void cfree(void *block) { gr_free(block); }
GR_EXPORT void free_sized(void *block, std::size_t size) { gr_free_sized(block, size); }
GR_EXPORT void free_aligned_sized(void *block, std::size_t alignment, std::size_t size) {
    gr_free_aligned_sized(block, alignment, size);
}

}  // extern "C"

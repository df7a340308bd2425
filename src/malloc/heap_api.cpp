// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions gr_heap_* of granary/granary.h.
// Invariant: each does with a heap what its namesake of the libc family does with malloc's.
// Must not know: how blocks are found, what a heap is made of.
#include "instance/instances.hpp"
#include "instance/statistics.hpp"
#include "malloc/c_api.hpp"
#include "malloc/requests.hpp"

namespace {

constexpr const char *kFreeFunction = "gr_heap_free";

}  // namespace

extern "C" {

gr_heap *gr_heap_new(std::size_t reserve_bytes) {
    gr_heap *const heap = gr::instances.make(reserve_bytes, kFreeFunction);
    if (heap == nullptr) errno = ENOMEM;
    return heap;
}

void gr_heap_destroy(gr_heap *heap) {
    if (heap != nullptr) gr::instances.destroy("gr_heap_destroy", heap);
}

void *gr_heap_malloc(gr_heap *heap, std::size_t size) { return gr::or_enomem(heap->instance.allocate(size)); }

void *gr_heap_calloc(gr_heap *heap, std::size_t count, std::size_t size) {
    return gr::or_enomem(heap->instance.allocate_zeroed(gr::array_bytes(count, size)));
}

void *gr_heap_aligned_alloc(gr_heap *heap, std::size_t alignment, std::size_t size) {
    return gr::allocate_aligned(heap->instance, alignment, size);
}

void *gr_heap_realloc(gr_heap *heap, void *block, std::size_t size) {
    return gr::reallocate(
        block, size, [=] { return gr_heap_malloc(heap, size); }, [=] { gr_heap_free(heap, block); },
        [=] { return gr::or_enomem(heap->instance.resize("gr_heap_realloc", block, size)); });
}

void gr_heap_free(gr_heap *heap, void *block) {
    if (block != nullptr) heap->instance.free(kFreeFunction, block);
}

std::size_t gr_heap_usable_size(gr_heap *heap, void *block) {
    return block == nullptr ? 0 : heap->instance.usable_size("gr_heap_usable_size", block);
}

void *gr_heap_aligned_calloc(gr_heap *heap, std::size_t alignment, std::size_t count, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    return gr::or_enomem(heap->instance.allocate_aligned_zeroed(gr::array_bytes(count, size), alignment));
}

void *gr_heap_aligned_realloc(gr_heap *heap, void *block, std::size_t alignment, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    return gr::reallocate(
        block, size, [=] { return gr::or_enomem(heap->instance.allocate_aligned(size, alignment)); },
        [=] { gr_heap_free(heap, block); },
        [=] {
            return gr::or_enomem(heap->instance.resize_aligned("gr_heap_aligned_realloc", block, size, alignment));
        });
}

std::size_t gr_heap_resize_in_place(gr_heap *heap, void *block, std::size_t least, std::size_t wanted) {
    return block == nullptr ? 0 : heap->instance.resize_in_place("gr_heap_resize_in_place", block, least, wanted);
}

std::size_t gr_heap_trim(gr_heap *heap, std::size_t keep_bytes) { return heap->instance.trim(keep_bytes); }

int gr_heap_statistics_get(gr_heap *heap, gr_statistics *out) {
    if (gr::copy_statistics(heap->instance, out)) return 0;
    errno = EINVAL;
    return -1;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/malloc.h that libc does not have: aligned calloc and realloc, and resizing in place.
// Invariant: as granary/malloc.h promises; an alignment that is no power of two is refused.
// Must not know: how blocks are found.
#include "malloc/c_api.hpp"
#include "malloc/requests.hpp"
#include "malloc/sampled.hpp"

extern "C" {

void *gr_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    const std::size_t bytes = gr::array_bytes(count, size);
    if (gr::sampled.is_counting()) [[unlikely]]
        return gr::or_enomem(gr::sampled.allocate_zeroed(bytes, alignment, __builtin_return_address(0)));
    return gr::or_enomem(gr::instance.allocate_aligned_zeroed(bytes, alignment));
}

void *gr_aligned_realloc(void *block, std::size_t alignment, std::size_t size) {
    constexpr const char *kFunction = "gr_aligned_realloc";
    const void *const caller = __builtin_return_address(0);
    if (!gr::is_alignment(alignment)) return nullptr;
    const auto allocate = [=] { return gr::or_enomem(gr::allocate_for_program(size, alignment, caller)); };
    const auto resize = [=] {
        if (gr::sampled.is_on()) [[unlikely]]
            return gr::or_enomem(gr::sampled.resize_aligned(kFunction, block, size, alignment, caller));
        return gr::or_enomem(gr::instance.resize_aligned(kFunction, block, size, alignment));
    };
    return gr::reallocate(
        block, size, allocate, [=] { gr_own_free(block); }, resize);
}

size_t gr_resize_in_place(void *block, size_t least, size_t wanted) {
    constexpr const char *kFunction = "gr_resize_in_place";
    if (block == nullptr) return 0;
    if (gr::sampled.is_on()) [[unlikely]]
        return gr::sampled.stretch(kFunction, block, least, wanted, __builtin_return_address(0));
    return gr::instance.resize_in_place(kFunction, block, least, wanted);
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how libc's allocation family treats its arguments, for any allocator: products that overflow, alignments, whole
//    pages, realloc of NULL and to size 0, errno. Also the functions that a family must have (family_names.inc).
// Invariant: where libcs differ, the rule is glibc's; a failure sets errno, a success never touches it.
// Must not know: which allocator serves the blocks, and how.
#pragma once

#include <bit>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "platform/memory.hpp"

namespace gr {

inline void *or_enomem(void *p) {
    if (p == nullptr) [[unlikely]]
        errno = ENOMEM;
    return p;
}

// The bytes of an array. If the product overflows, the result is SIZE_MAX, a request that is always refused.
constexpr std::size_t array_bytes(std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

// memalign, aligned_alloc: rounds an alignment up to a power of two. 0: there is none, and errno is EINVAL.
inline std::size_t rounded_alignment(std::size_t alignment) {
    constexpr std::size_t kLargestAlignment = SIZE_MAX / 2 + 1;
    if (alignment <= kLargestAlignment) return std::bit_ceil(alignment);
    errno = EINVAL;
    return 0;
}

// posix_memalign: whether it takes this alignment.
constexpr bool is_posix_alignment(std::size_t alignment) {
    return is_power_of_two(alignment) && alignment % sizeof(void *) == 0;
}

// Granary's own functions: whether the alignment is a power of two. If not, errno is EINVAL.
inline bool is_alignment(std::size_t alignment) {
    const bool is = is_power_of_two(alignment);
    if (!is) errno = EINVAL;
    return is;
}

// pvalloc: the size in whole pages. A size too large for that becomes SIZE_MAX, a request that is always refused.
inline std::size_t whole_pages(std::size_t size) {
    return size > kMaxRequest ? SIZE_MAX : align_up(size, platform::page_size());
}

// realloc of NULL allocates; realloc to size 0 frees.
template <class Allocate, class Free, class Resize>
[[gnu::always_inline]] inline void *reallocate(void *p, std::size_t size, Allocate allocate, Free free, Resize resize) {
    if (p == nullptr) return allocate();
    if (size == 0) {
        free();
        return nullptr;
    }
    return resize();
}

// What a family must have: one function for all names that mean the same.
template <class F>
concept LibcFamily = requires(void *p, void **out, std::size_t n) {
    { F::allocate(n) } -> std::same_as<void *>;
    { F::allocate_zeroed(n, n) } -> std::same_as<void *>;
    { F::resize(p, n) } -> std::same_as<void *>;
    // The first takes an alignment as memalign does. The second is posix_memalign: its result is an errno or 0.
    { F::allocate_aligned(n, n) } -> std::same_as<void *>;
    { F::allocate_aligned_into(out, n, n) } -> std::same_as<int>;
    // valloc: at the start of a page. pvalloc: also in whole pages.
    { F::allocate_page_aligned(n) } -> std::same_as<void *>;
    { F::allocate_pages(n) } -> std::same_as<void *>;
    { F::free(p) } -> std::same_as<void>;
};

}  // namespace gr

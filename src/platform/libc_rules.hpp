// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what libc's allocation family makes of its arguments, whoever serves the blocks: products that overflow, alignments,
//    whole pages, realloc of nothing and to nothing, errno. And what a family is made of (family_names.inc).
// Invariant: as glibc where libcs differ; a failure sets errno, success never touches it.
// Must not know: who serves the blocks, and how.
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

// The bytes of an array; of one that is too large for any address, a request that is refused.
constexpr std::size_t array_bytes(std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

// memalign, aligned_alloc: an alignment that is no power of two is rounded up to one. 0: there is none, and errno says so.
inline std::size_t rounded_alignment(std::size_t alignment) {
    constexpr std::size_t kLargestAlignment = SIZE_MAX / 2 + 1;
    if (alignment <= kLargestAlignment) return std::bit_ceil(alignment);
    errno = EINVAL;
    return 0;
}

// posix_memalign: which alignments it takes.
constexpr bool is_posix_alignment(std::size_t alignment) {
    return is_power_of_two(alignment) && alignment % sizeof(void *) == 0;
}

// Granary's own functions: whether it is a power of two; else errno says that it is none.
inline bool is_alignment(std::size_t alignment) {
    const bool is = is_power_of_two(alignment);
    if (!is) errno = EINVAL;
    return is;
}

// pvalloc: rounded up to whole pages; what is too large for that, a request that is refused.
inline std::size_t whole_pages(std::size_t size) {
    return size > kMaxRequest ? SIZE_MAX : align_up(size, platform::page_size());
}

// realloc: of nothing it allocates, to nothing it frees.
template <class Allocate, class Free, class Resize>
[[gnu::always_inline]] inline void *reallocate(void *p, std::size_t size, Allocate allocate, Free free, Resize resize) {
    if (p == nullptr) return allocate();
    if (size == 0) {
        free();
        return nullptr;
    }
    return resize();
}

// A family that has one function for all names that mean the same.
template <class F>
concept LibcFamily = requires(void *p, void **out, std::size_t n) {
    { F::allocate(n) } -> std::same_as<void *>;
    { F::allocate_zeroed(n, n) } -> std::same_as<void *>;
    { F::resize(p, n) } -> std::same_as<void *>;
    // An alignment as memalign takes it, and as posix_memalign does, whose result is an errno or 0.
    { F::allocate_aligned(n, n) } -> std::same_as<void *>;
    { F::allocate_aligned_into(out, n, n) } -> std::same_as<int>;
    // At a page, and of whole pages.
    { F::allocate_page_aligned(n) } -> std::same_as<void *>;
    { F::allocate_pages(n) } -> std::same_as<void *>;
    { F::free(p) } -> std::same_as<void>;
};

}  // namespace gr

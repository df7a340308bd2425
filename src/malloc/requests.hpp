// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the C faces of all instances share: errno, and alignments as glibc takes them; and the cached blocks of the
//    instance that the libc names serve.
// Invariant: a failure sets errno, success never touches it.
// Must not know: under which name it is asked.
#pragma once

#include <bit>
#include <cerrno>

#include "base/bits.hpp"
#include "instance/instance.hpp"

namespace gr {

inline void *or_enomem(void *p) {
    if (p == nullptr) errno = ENOMEM;
    return p;
}

// A block of the class from the caller's magazine in malloc's instance. nullptr: it has none, or there are no sequences;
// then the instance is to be asked.
inline void *pop_cached(ClassIndex c) {
    return platform::gr_sequence_pop(magazine_of(c), &platform::gr_sequence_state.slabs);
}

// Whether there is a power of two that is no smaller; else errno says that there is none.
inline bool can_be_rounded(std::size_t alignment) {
    constexpr std::size_t kLargestAlignment = SIZE_MAX / 2 + 1;
    if (alignment > kLargestAlignment) errno = EINVAL;
    return alignment <= kLargestAlignment;
}

// Whether it is a power of two; else errno says that it is none.
inline bool is_alignment(std::size_t alignment) {
    const bool is = is_power_of_two(alignment);
    if (!is) errno = EINVAL;
    return is;
}

// As glibc: an alignment that is no power of two is rounded up to one.
inline void *allocate_aligned(Instance &from, std::size_t alignment, std::size_t size) {
    if (!can_be_rounded(alignment)) return nullptr;
    return or_enomem(from.allocate_aligned(size, std::bit_ceil(alignment)));
}

}  // namespace gr

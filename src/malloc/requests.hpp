// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: requests by libc's rules, to any instance and to the magazines of malloc's instance.
// Invariant: a failure sets errno, success never touches it.
// Must not know: the name under which a program calls.
#pragma once

#include "instance/instance.hpp"
#include "platform/libc_rules.hpp"

namespace gr {

// A block of the class from the caller's magazine in malloc's instance. nullptr: the magazine is empty, or there are no
// sequences; then call the instance.
inline void *pop_cached(ClassIndex c) {
    return platform::gr_sequence_pop(magazine_of(c), &platform::gr_sequence_state.slabs);
}

// Like memalign, for any instance.
inline void *allocate_aligned(Instance &from, std::size_t alignment, std::size_t size) {
    const std::size_t rounded = rounded_alignment(alignment);
    return rounded == 0 ? nullptr : or_enomem(from.allocate_aligned(size, rounded));
}

}  // namespace gr

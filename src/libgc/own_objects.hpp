// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: objects as the functions of granary/gc.h allocate and check them.
// Invariant: a pointer one past an object's end leads to the object: its block has one byte more than was requested, or
//    an absent tail. A failure sets errno and does not call the out-of-memory function of libgc's clients.
// Must not know: finalizers, links, ephemerons.
#pragma once

#include <cerrno>

#include "libgc/allocation.hpp"

namespace gr {

inline constexpr std::size_t kOnePastEnd = 1;

inline int failed(int error) {
    errno = error;
    return -1;
}

// nullptr: there is no memory.
inline void *take(unsigned number, std::size_t size) {
    Kind &kind = kind_of_number(number);
    void *const p = size > PTRDIFF_MAX ? nullptr : collector.allocate(kind, size + kOnePastEnd, kOnePastEnd);
    if (p == nullptr) errno = ENOMEM;
    return p;
}

// Whether an object begins there.
inline bool is_object(const void *p) { return p != nullptr && collector.block_at(p).begin == p; }

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks as libgc gives them: the byte more, the out-of-memory function, and what the size of a request means.
// Invariant: while interior pointers count a block is longer than what was asked for, so that a pointer one past its
//    end lies in it.
// Must not know: kinds of clients.
#pragma once

#include "libgc/standard_kinds.hpp"
#include "libgc/variables.hpp"

namespace gr {

// The library is initialised, by whoever calls first.
void ensure_initialised();
bool is_initialised();

// What the client says to it.
void *out_of_memory(Kind &kind, std::size_t size, std::size_t bytes, std::size_t beyond);

// Scanned until it is freed, for the library itself: GC_non_gc_bytes does not count it. nullptr: no memory.
void *allocate_own(std::size_t size);
void free_own(void *p);

inline Kind &kind_of_number(unsigned number) {
    Kind *const kind = collector.kind(number);
    if (kind != nullptr) [[likely]]
        return *kind;
    ensure_initialised();
    return *collector.kind(number);
}

inline bool has_more() { return now(GC_all_interior_pointers) != 0; }

// Of exactly so many bytes at least, the last `beyond` of which hold nothing.
inline void *allocate_exactly(Kind &kind, std::size_t size, std::size_t bytes, std::size_t beyond) {
    void *const p = collector.allocate(kind, bytes, beyond);
    if (p == nullptr) [[unlikely]]
        return out_of_memory(kind, size, bytes, beyond);
    return p;
}

inline void *allocate(Kind &kind, std::size_t size) {
    const std::size_t more = size < PTRDIFF_MAX && has_more() ? 1 : 0;
    return allocate_exactly(kind, size, size + more, more);
}

[[gnu::noinline]] inline void *allocate(unsigned kind, std::size_t size) {
    return allocate(kind_of_number(kind), size);
}

// NULL is ignored; dies of what is no block.
void free(void *p);

// As resize(), of what begins there; dies, named after `function`, of what is no block.
void *resize_block(const char *function, void *p, std::size_t size, std::size_t more);

}  // namespace gr

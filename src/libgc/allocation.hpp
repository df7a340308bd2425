// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: objects as libgc allocates and frees them: the added byte, the out-of-memory function, and the limits of sizes.
// Invariant: while interior pointers count, a block is longer than the request, so that a pointer one past the object's
//    end lies in the block.
// Must not know: kinds of clients.
#pragma once

#include "libgc/standard_kinds.hpp"
#include "libgc/variables.hpp"

namespace gr {

// Initialises the library, if no earlier call has done so.
void ensure_initialised();
bool is_initialised();

// Tries again to allocate `bytes` bytes, the last `beyond` of which hold nothing, for a client that requested `size`. Then
// returns what the client's out-of-memory function returns.
void *out_of_memory(Kind &kind, std::size_t size, std::size_t bytes, std::size_t beyond);

// Memory of the library itself in a kind that is kept until freed: GC_non_gc_bytes does not count it. nullptr: no memory.
void *allocate_own(unsigned kind, std::size_t size);
void free_own(void *p);

inline Kind &kind_of_number(unsigned number) {
    Kind *const kind = collector.kind(number);
    if (kind != nullptr) [[likely]]
        return *kind;
    ensure_initialised();
    return *collector.kind(number);
}

inline bool has_more() { return now(GC_all_interior_pointers) != 0; }

inline void *allocate(Kind &kind, std::size_t size) {
    const std::size_t more = size < PTRDIFF_MAX && has_more() ? 1 : 0;
    void *const p = collector.allocate(kind, size + more, more);
    if (p == nullptr) [[unlikely]]
        return out_of_memory(kind, size, size + more, more);
    return p;
}

[[gnu::noinline]] inline void *allocate(unsigned kind, std::size_t size) {
    return allocate(kind_of_number(kind), size);
}

// NULL is ignored. The process ends with one line if no object begins at p.
void free(void *p);

// resize() of the object that begins at p. The process ends with one line, which names `function`, if none does.
void *resize_block(const char *function, void *p, std::size_t size, std::size_t more);

}  // namespace gr

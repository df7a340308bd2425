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
void *out_of_memory(Kind &kind, std::size_t size, std::size_t bytes);
void count_uncollectable(const Kind &kind, std::size_t bytes, bool added);

inline Kind &kind_of_number(unsigned number) {
    Kind *const kind = collector.kind(number);
    if (kind != nullptr) [[likely]]
        return *kind;
    ensure_initialised();
    return *collector.kind(number);
}

inline bool has_more() { return now(GC_all_interior_pointers) != 0; }

// Of exactly so many bytes at least.
inline void *allocate_exactly(Kind &kind, std::size_t size, std::size_t bytes) {
    void *const p = collector.allocate(kind, bytes);
    if (p == nullptr) [[unlikely]]
        return out_of_memory(kind, size, bytes);
    if (kind.setup.lifetime != Lifetime::collected) [[unlikely]]
        count_uncollectable(kind, collector.block_at(p).bytes, true);
    return p;
}

inline void *allocate(Kind &kind, std::size_t size) {
    return allocate_exactly(kind, size, size < PTRDIFF_MAX && has_more() ? size + 1 : size);
}

[[gnu::noinline]] inline void *allocate(unsigned kind, std::size_t size) {
    return allocate(kind_of_number(kind), size);
}

// NULL is ignored; dies of what is no block.
void free(void *p);

// As resize(), of what begins there; dies, named after `function`, of what is no block.
void *resize_block(const char *function, void *p, std::size_t size, std::size_t more);

}  // namespace gr

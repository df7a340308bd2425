// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is larger than half of a chunk can be freed (parts/arenas_and_huge.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the headers it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/arena.hpp"
#include "parts/arenas_and_huge.hpp"
#include "parts/huge_blocks.hpp"

using namespace gr::lab;

#ifdef CONTROL
ArenasAndHuge<Arena<Quartiles>, RoundRobin, HugeBlocks, kAlignment> *allocator;
#else
struct Kept {
    void *allocate(std::size_t, std::size_t, const ChunkShape &) { return nullptr; }
    std::size_t usable_size(const void *) { return 0; }
    void counts() {}
    void lock() {}
    void unlock() {}
};
ArenasAndHuge<Arena<Quartiles>, RoundRobin, Kept, kAlignment> *allocator;
#endif

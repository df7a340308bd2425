// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the heap in numbers, as libgc counts: bytes now, since the last collection, ever.
// Invariant: nothing is counted where blocks are allocated; what was is told from what is in use.
// Must not know: who asks.
#pragma once

#include "collector/collector.hpp"
#include "libgc/variables.hpp"
#include "platform/rseq/per_cpu_counter.hpp"

namespace gr {

struct PageNumbers {
    std::size_t heap = 0;      // bytes held, without what was given back
    std::size_t free = 0;      // of these in wholly free units
    std::size_t unmapped = 0;  // given back, kept as addresses
    std::size_t obtained = 0;  // had from the system, with tables
};

struct BlockNumbers {
    std::size_t since = 0;           // allocated since the last collection
    std::size_t total = 0;           // allocated ever
    std::size_t reclaimed = 0;       // by the last collection
    std::size_t reclaimed_ever = 0;  // by those before
};

// By the client, since ever.
extern platform::PerCpuCounter freed;

// Sums; clients ask for them at each step.
std::size_t heap_bytes();
PageNumbers page_numbers();
std::size_t freed_since_last();
// These walk all superblocks.
std::size_t blocks_bytes();
BlockNumbers block_numbers();

// What a client was promised counts as heap, free as long as it is not used.
void promise(std::size_t bytes);

// Once; before it frees are counted, too, and slower.
void start_counting(const Instance &of);
void count_allocated(std::size_t bytes);
void count_freed(std::size_t bytes);  // by the client itself, since the last collection
// Blocks that the library itself keeps in a kind that is kept until freed.
void count_own(std::size_t bytes);
void count_own_freed(std::size_t bytes);
// Under the lock: GC_non_gc_bytes, changed as clients have allocated and freed uncollectable objects since the last call.
GC_word update_non_gc_bytes();
// Of a collection, under the lock: before it stops anybody, and after one that was done.
void note_begin();
void note_end();

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers of the heap as libgc counts them: bytes now, since the last collection, and since the start.
// Invariant: allocation counts nothing; what was allocated is computed from what is in use.
// Must not know: which function asks for the numbers.
#pragma once

#include "collector/collector.hpp"
#include "libgc/variables.hpp"
#include "platform/rseq/per_cpu_counter.hpp"

namespace gr {

struct PageNumbers {
    std::size_t heap = 0;      // bytes held, without what was returned to the OS
    std::size_t free = 0;      // part of heap: in units that are wholly free
    std::size_t unmapped = 0;  // returned to the OS; only the addresses are kept
    std::size_t obtained = 0;  // obtained from the OS, tables included
};

struct BlockNumbers {
    std::size_t since = 0;           // allocated since the last collection
    std::size_t total = 0;           // allocated since the start
    std::size_t reclaimed = 0;       // by the last collection
    std::size_t reclaimed_ever = 0;  // by the collections before that
};

// Freed by the client since the start.
extern platform::PerCpuCounter freed;

// These are cheap: clients ask for them at each step.
std::size_t heap_bytes();
PageNumbers page_numbers();
std::size_t freed_since_last();
// These look at all superblocks.
std::size_t blocks_bytes();
BlockNumbers block_numbers();

// What the client has promised to need counts as heap, and as free until it is used.
void promise(std::size_t bytes);

// Called once. Before this call, frees are also counted, but more slowly.
void start_counting(const Instance &of);
void count_allocated(std::size_t bytes);
void count_freed(std::size_t bytes);  // what the client itself has freed since the last collection
// Blocks that the library itself keeps in a kind that is kept until freed.
void count_own(std::size_t bytes);
void count_own_freed(std::size_t bytes);
// Called with the lock held: changes GC_non_gc_bytes as clients have allocated and freed uncollectable objects since the
// last call, and returns it.
GC_word update_non_gc_bytes();
// Called with the lock held: before a collection stops the threads, and after a collection that was done.
void note_begin();
void note_end();

}  // namespace gr

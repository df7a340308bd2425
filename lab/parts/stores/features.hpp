// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the features of Wasik's chapter 3 and of the allocators that the papers compare, as words that are added up,
//    and which sums make no sense.
// Invariant: an illegal sum does not compile and says why in one line; what the thesis calls without benefit is legal.
// Must not know: how any feature is built.
#pragma once

#include <cstdint>

namespace gr::lab {

enum class Feature : std::uint8_t {
    single_heap,                 // all threads share one heap (3.1.1)
    thread_heaps,                // each thread has its own; a thread that starts takes over that of one that ended
    trylock_heaps,               // a thread takes one whose lock is free (4.3, Ptmalloc)
    turn_heaps,                  // each malloc takes the next of all heaps (Hoard 6, MTmalloc)
    no_global_heap,              // a heap keeps the memory that it got
    destroyed_heaps,             // what is free in a heap goes to the global heap when its thread ends (3.1.1)
    locks_per_bin,               // of a single heap each bin has a lock of its own
    locks_of_threads,            // no heap's lock is taken before there is a second thread (4.4, 7.1.2)
    coalescing,                  // exact sizes; neighbours that are free are joined (3.2.1.3)
    best_fit,                    // the tightest of all that fit (2.2.1)
    search_tree,                 // found in a tree of what is free, by size (4.1, Solaris)
    power_of_two_bins,           // each twice as large as the one before (here: MTmalloc)
    containers,                  // blocks of one size behind one header (3.1.2)
    varied_containers,           // of four sizes (3.1.2.2)
    header_table,                // whose headers lie in a table by page (4.5)
    ownership,                   // a block goes back to the heap that it was allocated from (3.1.1.1)
    restricted_movement,         // a container moves between heaps only when it is wholly free (3.1.2.1)
    free_list_buffer,            // a thread takes what it freed again, without a lock (3.1.3)
    delayed_ownership,           // other threads' blocks wait in the buffer, too (3.1.1.1)
    reallocation,                // and may be taken again there
    remote_lists,                // blocks that other threads free wait in a list of the owner's (3.1.4)
    remote_lists_on_containers,  // or of the container's (3.2.4.3)
    global_remote_list,          // what the global heap is given waits apart from what it gives
    lock_free,                   // by compare-and-swap (3.1.6)
    cleared_into_buffer,         // a remote list is cleared into the buffer (7.4)
};

struct Features {
    std::uint32_t bits;

    constexpr Features(Feature feature) : bits(1U << static_cast<unsigned>(feature)) {}  // one is a sum, too
    constexpr bool have(Feature feature) const { return (bits & Features(feature).bits) != 0; }
    // Behind the heaps, which are more than one.
    constexpr bool have_global_heap() const { return !have(Feature::single_heap) && !have(Feature::no_global_heap); }
};

constexpr Features operator+(Features a, Features b) {
    a.bits |= b.bits;
    return a;
}
constexpr Features operator+(Feature a, Feature b) { return Features(a) + Features(b); }

using enum Feature;

template <Features kF>
struct LegalSum {
    static constexpr bool has(Feature feature) { return kF.have(feature); }
    static constexpr bool kAnyRemote = has(remote_lists) || has(remote_lists_on_containers);

    static_assert(has(single_heap) + has(thread_heaps) + has(trylock_heaps) + has(turn_heaps) == 1,
                  "choose exactly one of single_heap, thread_heaps, trylock_heaps and turn_heaps (3.1.1)");
    static_assert(!(has(coalescing) && has(containers)),
                  "coalescing changes block sizes; all blocks of a container have one size (3.2)");
    static_assert(!kAnyRemote || has(ownership),
                  "without ownership no free is remote, so heaps need no remote list (3.2.1.5)");
    static_assert(!has(remote_lists_on_containers) || (has(containers) && !has(remote_lists)),
                  "remote lists belong to containers or to heaps; the former need containers (3.2.4.3)");
    static_assert(!has(restricted_movement) || has(containers), "restricted_movement needs containers (3.1.2.1)");
    static_assert(!has(restricted_movement) || has(ownership),
                  "restricted_movement needs ownership: without it blocks move, not containers (3.1.2.1)");
    static_assert(!(has(varied_containers) || has(header_table)) || has(containers),
                  "varied_containers and header_table need containers");
    static_assert(!(has(varied_containers) && has(header_table)), "choose one of varied_containers and header_table");
    static_assert(!(has(varied_containers) || has(header_table)) ||
                      (has(ownership) && !has(remote_lists_on_containers)),
                  "varied_containers and header_table need ownership and exclude remote_lists_on_containers");
    static_assert(!has(delayed_ownership) || (has(ownership) && has(free_list_buffer)),
                  "delayed_ownership needs ownership and free_list_buffer (3.1.1.1)");
    static_assert(!has(reallocation) || has(delayed_ownership), "reallocation needs delayed_ownership (3.1.1.1)");
    static_assert(!has(lock_free) || (has(remote_lists) && has(restricted_movement) && !has(varied_containers)),
                  "lock_free needs remote_lists, restricted_movement and containers of one size (5.9)");
    static_assert(!has(cleared_into_buffer) || (has(free_list_buffer) && has(remote_lists)),
                  "cleared_into_buffer needs free_list_buffer and remote_lists (7.4)");
    static_assert(!has(ownership) || !has(single_heap),
                  "a single heap owns everything, so ownership has no meaning (3.1.1)");
    static_assert(!has(no_global_heap) || !has(global_remote_list), "global_remote_list needs a global heap");
    static_assert(!has(destroyed_heaps) || (has(thread_heaps) && kF.have_global_heap()),
                  "destroyed_heaps needs thread_heaps and a global heap (3.1.1)");
    static_assert(!has(destroyed_heaps) || !has(ownership) || (has(containers) && !has(restricted_movement)),
                  "destroyed_heaps needs owners that can change while blocks are in use: no ownership, or containers "
                  "that move freely (5.5)");
    static_assert(!has(destroyed_heaps) || !(has(coalescing) || has(free_list_buffer) || kAnyRemote),
                  "destroyed_heaps excludes coalescing, free_list_buffer and remote lists: it empties stores only");
    static_assert(!has(best_fit) || has(coalescing),
                  "best_fit needs coalescing: otherwise all blocks of a bin have one size");
    static_assert(!has(search_tree) || (has(best_fit) && has(single_heap)),
                  "search_tree needs best_fit and single_heap: buffers and the global heap take blocks by bin");
    static_assert(!has(power_of_two_bins) || !(has(containers) || has(coalescing)),
                  "power_of_two_bins needs headers of objects, without containers and coalescing");
    static_assert(!has(turn_heaps) || has(ownership),
                  "turn_heaps needs ownership: malloc takes a turn, free goes to the owner (Hoard 6)");
    static_assert(!has(locks_per_bin) || (has(single_heap) && !has(coalescing)),
                  "locks_per_bin needs single_heap without coalescing");
    static_assert(!has(free_list_buffer) || has(thread_heaps), "free_list_buffer needs thread_heaps (3.1.3)");
    static constexpr bool kIs = true;
};

}  // namespace gr::lab

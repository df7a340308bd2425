// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts what costs an allocator its scalability: locks, waits, atomic operations, aborted sequences, system
//    calls. Only the counted build does this; in every other build count() does nothing.
// Invariant: the counters order nothing between threads, and only grow. The assembly counts its aborts in gr_events at
//    the index of aborted_sequence.
// Must not know: why something happens.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"

namespace gr::platform {

enum class Event : unsigned {
    aborted_sequence,  // must be first: the assembly counts at index 0
    refill,
    flush,
    remote_flush,
    message,
    shared_superblock,
    shared_block,
    lock,
    global_lock,
    page_heap_lock,
    wait,
    atomic_operation,
    system_call,
    block_marked_twice,
    work_given,
    stack_outgrown,
    count
};

extern "C" std::atomic<std::uint64_t> gr_events[];

inline void count(Event event, std::uint64_t times = 1) {
    if constexpr (kCounted) gr_events[static_cast<unsigned>(event)].fetch_add(times, std::memory_order_relaxed);
}
inline std::uint64_t counted(Event event) {
    return gr_events[static_cast<unsigned>(event)].load(std::memory_order_relaxed);
}

}  // namespace gr::platform

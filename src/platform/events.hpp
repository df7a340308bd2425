// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what costs an allocator its scalability, counted: locks, waits, atomic operations, aborted sequences, system
//    calls. In the counted build only; in every other count() is nothing.
// Invariant: ordered by nothing; a counter only grows. The assembly counts its aborts in gr_events by the same index.
// Must not know: why something happens.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"

namespace gr::platform {

enum class Event : unsigned {
    aborted_sequence,  // first: the assembly's
    refill,
    flush,
    remote_flush,
    message,
    lock,
    global_lock,
    page_heap_lock,
    wait,
    atomic_operation,
    system_call,
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

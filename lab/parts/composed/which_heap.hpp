// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many heaps there are, and which a call uses: by the number of the thread's CPU, by a hash of the thread, or
//    each in turn.
// Invariant: a number below what count() was at the start; that of the CPU may be out of date as soon as it is known.
// Must not know: what a heap is.
#pragma once

#include <sched.h>

#include <atomic>
#include <concepts>

#include "platform/events.hpp"
#include "platform/process.hpp"
#include "platform/rseq/sequences.hpp"
#include "platform/thread.hpp"

namespace gr::lab {

template <class W>
concept WhichHeap = requires(unsigned count) {
    // So many, if each processor is to have one.
    { W::count() } -> std::same_as<unsigned>;
    { W::of_caller(count) } -> std::same_as<unsigned>;
};

// Threads are numbered as they come, as the LWPs were whose ids Hoard hashes (Hoard 3): a remainder spreads them best.
struct ByThreadHash {
    static unsigned count() { return platform::usable_cpus(); }
    static unsigned of_caller(unsigned count) { return platform::thread_number() % count; }
};

// MTmalloc (Hoard 6): a call takes the heap after that of the call before it, whichever thread made that one.
class ByTurn {
  public:
    static unsigned count() { return platform::usable_cpus(); }
    static unsigned of_caller(unsigned count) {
        platform::count(platform::Event::atomic_operation);
        return next_heap.fetch_add(1, std::memory_order_relaxed) % count;
    }

  private:
    // Orders nothing: what lies in a heap is read under that heap's lock. Where it wraps around, a heap may be passed
    // over or used twice.
    static inline constinit std::atomic<unsigned> next_heap{0};
};

// LFMalloc 3.1.3: the kernel keeps the number where the thread can read it, in libc's rseq area; without one it is
// asked.
struct ByCpu {
    // Above every number that the kernel can give, if it says which.
    static unsigned count() {
        const unsigned bound = platform::cpu_bound();
        platform::SequenceState &state = platform::gr_sequence_state;
        is_kept = bound != 0 && platform::find_rseq(&state);
        state.cid_offset = state.rseq_offset + kCpuIdOffset;  // not the concurrency id
        return bound != 0 ? bound : platform::usable_cpus();
    }
    // As the kernel keeps it; negative: for this thread it does not.
    static int kept() { return is_kept ? platform::current_cid(platform::gr_sequence_state) : -1; }
    static unsigned of_caller(unsigned count) {
        int cpu = kept();
        if (cpu < 0) cpu = sched_getcpu();
        const unsigned number = cpu < 0 ? 0 : static_cast<unsigned>(cpu);
        return number < count ? number : number % count;
    }

    static constexpr std::int64_t kCpuIdOffset = 4;
    static inline constinit bool is_kept = false;
};

}  // namespace gr::lab

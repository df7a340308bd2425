// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many heaps there are, and which a thread uses: by the number of its CPU, or by a hash of the thread.
// Invariant: a number below what count() was at the start; that of the CPU may be out of date as soon as it is known.
// Must not know: what a heap is.
#pragma once

#include <sched.h>

#include <concepts>

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

// LFMalloc 3.1.3: the kernel keeps the number where the thread can read it, in libc's rseq area; without one it is asked.
struct ByCpu {
    // Above every number that the kernel can give.
    static unsigned count() {
        has_area = platform::find_rseq(&area);
        area.cid_offset = area.rseq_offset + kCpuIdOffset;  // not the concurrency id
        const unsigned bound = platform::cpu_bound();
        return bound != 0 ? bound : platform::usable_cpus();
    }
    // As the kernel keeps it; negative: for this thread it does not.
    static int kept() { return has_area ? platform::current_cid(area) : -1; }
    static unsigned of_caller(unsigned count) {
        int cpu = kept();
        if (cpu < 0) cpu = sched_getcpu();
        const unsigned number = cpu < 0 ? 0 : static_cast<unsigned>(cpu);
        return number < count ? number : number % count;
    }

    static constexpr std::int64_t kCpuIdOffset = 4;
    static inline constinit bool has_area = false;
    static inline constinit platform::SequenceState area{};
};

static_assert(WhichHeap<ByThreadHash> && WhichHeap<ByCpu>);

}  // namespace gr::lab

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the CPU's counter of time, and adding to a word that only the calling thread and its signal handlers write.
// Invariant: neither is a call, and neither orders anything between threads.
// Must not know: what is timed or counted.
#pragma once

#include <atomic>
#include <cstdint>

namespace gr::platform {

[[gnu::always_inline]] inline std::uint64_t counter() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

// Adds, and returns what the word was before. x86-64 needs one instruction and no lock for this: a signal handler runs
// before it or after it.
[[gnu::always_inline]] inline std::uint64_t add_alone(std::atomic<std::uint64_t> &word, std::uint64_t more) {
#if defined(__x86_64__)
    asm volatile("xadd %0, %1" : "+r"(more), "+m"(word) : : "cc");
    return more;
#else
    return word.fetch_add(more, std::memory_order_relaxed);
#endif
}

}  // namespace gr::platform

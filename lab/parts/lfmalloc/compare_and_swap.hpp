// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: compare-and-swap by a restartable sequence (LFMalloc 5.1), on a word that belongs to one CPU.
// Invariant: only threads on the word's CPU change it, and only by this. The paper emulates the instruction where all
//    threads of the process are bound to one CPU; here each call checks the CPU, because another process may move a thread.
// Must not know: what the word is for.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace gr::lab {

enum class Swap : std::uint32_t { refused, swapped, interrupted };

// compare_and_swap_*.S. refused: the word differs, or the thread is not on the CPU.
extern "C" Swap gr_lab_compare_and_swap(std::uint32_t cpu, void *word, std::uint64_t expected, std::uint64_t desired);

// false: refused, or interrupted at each try (a debugger's single steps). As with compare_exchange_weak the caller
// looks at the word again. Negative CPUs have no words: the thread's rseq is not registered.
template <class T>
bool compare_and_swap(int cpu, std::atomic<T> &word, T expected, T desired) {
    static_assert(sizeof(std::atomic<T>) == sizeof(std::uint64_t), "the sequence swaps a word");
    constexpr unsigned kTries = 8;
    if (cpu < 0) return false;
    Swap swap = Swap::interrupted;
    for (unsigned i = 0; i < kTries && swap == Swap::interrupted; ++i)
        swap = gr_lab_compare_and_swap(static_cast<std::uint32_t>(cpu), &word, std::bit_cast<std::uint64_t>(expected),
                                       std::bit_cast<std::uint64_t>(desired));
    return swap == Swap::swapped;
}

}  // namespace gr::lab

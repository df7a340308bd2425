// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: is compare-and-swap by a restartable sequence faster than the instruction (LFMalloc 5.1; the paper:
//    1.8 times)? Prints nanoseconds of one swap, the least of kRounds rounds: by the instruction, by the same without
//    the lock prefix where the machine has one, and by the sequence. The word is nobody else's.
// Invariant: each swap succeeds, and the next one expects what it stored.
// Must not know: malloc.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/compare_and_swap.hpp"

namespace {

constexpr int kRounds = 400;
constexpr std::uint64_t kSwaps = 100'000;

std::atomic<std::uint64_t> word{0};

double cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Negative: a swap failed.
template <class Swap>
double nanoseconds(Swap swap) {
    double least = 0;
    for (int round = 0; round < kRounds; ++round) {
        word.store(0);
        const double begin = cpu_nanoseconds();
        for (std::uint64_t i = 0; i < kSwaps; ++i)
            if (!swap(i)) return -1;
        const double took = (cpu_nanoseconds() - begin) / static_cast<double>(kSwaps);
        least = round == 0 ? took : std::min(least, took);
    }
    return least;
}

bool by_instruction(std::uint64_t i) { return word.compare_exchange_strong(i, i + 1, std::memory_order_relaxed); }

#ifdef __x86_64__
// Whole with regard to what interrupts it on its CPU, as the sequence, but not with regard to other CPUs.
bool without_lock_prefix(std::uint64_t i) {
    bool is_swapped = false;
    asm volatile("cmpxchgq %3, %1" : "=@ccz"(is_swapped), "+m"(word), "+a"(i) : "r"(i + 1) : "memory");
    return is_swapped;
}
#endif

bool stay_on_this_cpu() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

}  // namespace

int main() {
    if (!stay_on_this_cpu()) return std::perror("compare-and-swap"), 1;
    gr::lab::ByCpu::count();
    const int cpu = gr::lab::ByCpu::kept();
    if (cpu < 0) return std::fputs("compare-and-swap: libc registers no rseq here\n", stderr), 2;
    const auto by_sequence = [cpu](std::uint64_t i) {
        while (!gr::lab::compare_and_swap(cpu, word, i, i + 1))
            if (word.load(std::memory_order_relaxed) != i) return false;
        return true;
    };
    std::printf("instruction %.2f\n", nanoseconds(by_instruction));
#ifdef __x86_64__
    std::printf("without-lock-prefix %.2f\n", nanoseconds(without_lock_prefix));
#endif
    std::printf("sequence %.2f\n", nanoseconds(by_sequence));
}

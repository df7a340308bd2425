// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what active-false and passive-false have in common: options, threads on CPUs of their own, the turn both
//    repeat, and how many cache lines hold live blocks of two threads.
// Invariant: threads tell each other where their block is on lines that nothing else is on; one thread looks, and at
//    so few turns that it costs less than a hundredth of a turn's writes.
// Must not know: which malloc it runs on; what a thread held before its first turn.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <algorithm>

#include "workload.hpp"

namespace gr::bench {

inline std::vector<std::size_t> allowed_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) fail("sched_getaffinity: the CPUs of this process are unknown");
    std::vector<std::size_t> cpus;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

inline void pin_to(std::size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) fail("no thread can be pinned to CPU %zu", cpu);
}

// The one live block of each thread, by address. Relaxed: a glance may come late, but is made twice.
class SharedLines {
  public:
    explicit SharedLines(std::size_t threads) : held_(threads) { seen_.reserve(2 * threads); }

    void took(std::size_t thread, const volatile void *block) {
        held_[thread].block.store(reinterpret_cast<std::uintptr_t>(block), std::memory_order_relaxed);
    }
    void gave_back(std::size_t thread) { held_[thread].block.store(0, std::memory_order_relaxed); }

    // Only by one thread.
    void look(std::size_t size) {
        seen_.clear();
        for (std::size_t thread = 0; thread < held_.size(); ++thread) {
            const std::uintptr_t block = now(thread);
            if (block == 0) continue;
            const std::uintptr_t first = block / kLine, last = (block + size - 1) / kLine;
            seen_.push_back({first, thread, block});
            if (last != first) seen_.push_back({last, thread, block});
        }
        std::sort(seen_.begin(), seen_.end(), [](const Seen &a, const Seen &b) { return a.line < b.line; });
        for (auto first = seen_.begin(); first != seen_.end();) {
            const auto next = std::find_if(first, seen_.end(), [&](const Seen &s) { return s.line != first->line; });
            shared_ += std::count_if(first, next, [&](const Seen &s) { return now(s.thread) == s.block; }) > 1;
            first = next;
        }
        ++looks_;
    }
    // The mean over all looks: 0 only if none was ever seen.
    double mean() const { return looks_ == 0 ? 0 : static_cast<double>(shared_) / static_cast<double>(looks_); }

  private:
    static constexpr std::size_t kLine = 64;
    struct alignas(2 * kLine) Held {  // two: CPUs fetch lines in pairs
        std::atomic<std::uintptr_t> block = 0;
    };
    struct Seen {
        std::uintptr_t line;
        std::size_t thread;
        std::uintptr_t block;
    };

    std::uintptr_t now(std::size_t thread) const { return held_[thread].block.load(std::memory_order_relaxed); }

    std::vector<Held> held_;
    std::vector<Seen> seen_;
    std::uint64_t shared_ = 0;
    std::uint64_t looks_ = 0;
};

class FalseSharing {
  public:
    explicit FalseSharing(Workload &workload) : workload_(workload) {
        workload.options().number("--size", size_, "bytes", {sizeof(std::uint64_t), 4096});
        workload.options().number("--writes", writes_, "on each block", {1, 1 << 30});
        workload.options().flag("--pin,!--no-pin", pin_, "to a CPU each; the default if there are enough");
    }

    std::size_t size() const { return size_; }

    // After the options are known. `before(worker)` is what a thread does before its turns.
    template <typename Before>
    int run(Before before) {
        const std::size_t threads = workload_.settings().threads;
        const std::vector<std::size_t> cpus = allowed_cpus();
        const bool pin = workload_.options().given("--pin") ? pin_ : threads <= cpus.size();
        SharedLines lines(threads);
        workload_.run([&](Worker &worker) {
            if (pin) pin_to(cpus[worker.index % cpus.size()]);
            before(worker);
            for (; worker.more(); worker.did(1)) turn(worker, lines);
        });
        workload_.note("pinned", pin);
        workload_.note("shared_lines", lines.mean());
        workload_.note("requested_peak_bytes", static_cast<double>(threads * size_));
        return workload_.report();
    }

  private:
    // Volatile, so that each write happens; an increment, so that each counts.
    void turn(const Worker &worker, SharedLines &lines) const {
        auto *const block = static_cast<volatile std::uint64_t *>(allocate(size_));
        lines.took(worker.index, block);
        const std::uint64_t first = worker.index << 32;
        *block = first;
        for (unsigned write = 0; write < writes_; ++write) *block = *block + 1;
        if (worker.index == 0 && worker.done() % std::max(worker.threads, kFewTurns) == 0) lines.look(size_);
        if (*block != first + writes_)
            fail("%s: another wrote on block %p while it was held", workload_.name().c_str(),
                 const_cast<std::uint64_t *>(block));
        lines.gave_back(worker.index);
        std::free(const_cast<std::uint64_t *>(block));
    }

    // A look costs a line's fetch for each thread, a turn the time of many.
    static constexpr std::size_t kFewTurns = 16;

    Workload &workload_;
    std::size_t size_ = 8;
    unsigned writes_ = 10000;
    bool pin_ = false;
};

}  // namespace gr::bench

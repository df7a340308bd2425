// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a number of bytes that many threads add to: one word that all share, and one word for each CPU.
// Invariant: each addition is in the sum exactly once. After a push a second sequence adds to its CPU's word; if that
//    sequence is aborted, the addition goes to the shared word.
// Must not know: what is counted.
#pragma once

#include <atomic>

#include "platform/memory.hpp"
#include "platform/rseq/magazine_header.hpp"

namespace gr::platform {

class PerCpuCounter {
  public:
    constexpr PerCpuCounter() = default;

    // Called once, with the number of CPUs. Without memory there are no words, and no thread may push.
    void start(unsigned cpus) {
        const std::size_t words = cpus + std::size_t{1};
        auto *const memory = static_cast<std::uint64_t *>(map(words * kCounterBytes, kCounterBytes));
        if (memory == nullptr) return;
        cpus_ = cpus;
        words_.store(memory, std::memory_order_release);
    }
    // The shared word. Each CPU's word lies kCounterBytes behind the word before it. nullptr: there are no words.
    std::uint64_t *words() const { return words_.load(std::memory_order_acquire); }

    void add(std::uint64_t bytes) { others_.fetch_add(bytes, std::memory_order_relaxed); }
    std::uint64_t sum() const {
        std::uint64_t all = others_.load(std::memory_order_relaxed);
        std::uint64_t *const memory = words();
        if (memory == nullptr) return all;
        for (unsigned i = 0; i <= cpus_; ++i) {
            std::uint64_t &word = memory[i * (kCounterBytes / sizeof *memory)];
            all += std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed);
        }
        return all;
    }

  private:
    unsigned cpus_ = 0;
    std::atomic<std::uint64_t *> words_{nullptr};  // release, after cpus_, with the acquire of words()
    std::atomic<std::uint64_t> others_{0};  // of add(), for frees that push nothing; orders nothing, nor do the words
};

}  // namespace gr::platform

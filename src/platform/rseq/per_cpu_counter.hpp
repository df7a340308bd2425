// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a number of bytes that many threads add to: a word that all share, and one for each CPU.
// Invariant: what was added is in the sum, once. The sequence that pushes adds to its CPU's word, or, when it is
//    aborted there, to the shared one.
// Must not know: what is counted.
#pragma once

#include <atomic>

#include "platform/memory.hpp"
#include "platform/rseq/magazine_header.hpp"

namespace gr::platform {

class PerCpuCounter {
  public:
    constexpr PerCpuCounter() = default;

    // Once, with words for so many CPUs. Without memory there are none, and nobody may push.
    void start(unsigned cpus) {
        const std::size_t words = cpus + std::size_t{1};
        auto *const memory = static_cast<std::uint64_t *>(map(words * kCounterBytes, kCounterBytes));
        if (memory == nullptr) return;
        cpus_ = cpus;
        words_.store(memory, std::memory_order_release);
    }
    // The shared word, each CPU's kCounterBytes behind the one before; or nullptr.
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
    std::atomic<std::uint64_t> others_{0};         // of those who push nothing; ordered by nothing, as the words
};

}  // namespace gr::platform

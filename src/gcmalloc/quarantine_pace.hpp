// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when a search for pointers to what waits is worth its cost: as late as memory allows.
// Invariant: what waits may make the process larger than it was with its own memory alone at its largest, but by one
//    part of that only; where it is smaller than it was, more may wait.
// Must not know: how it is searched; what waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/config.hpp"

namespace gr {

// All in bytes. What is resident is the process's own, what waits, and what is free in the heap.
class QuarantinePace {
  public:
    constexpr QuarantinePace() = default;

    // By anyone.
    bool is_due(std::size_t waiting) const { return waiting >= due_.load(std::memory_order_relaxed); }

    const std::atomic<std::size_t> &due_cell() const { return due_; }

    // Under a lock, the rest. After a search.
    void learn(std::size_t resident, std::size_t own, std::size_t waiting) {
        resident_ = resident;
        own_ = own;
        waiting_ = waiting;
        peak_ = std::max(peak_, own);
        due_.store(waiting + kLeast, std::memory_order_relaxed);
    }
    // When it is due. false: more may wait, and it is due later.
    bool is_worth(std::size_t resident, std::size_t waiting) {
        const std::size_t came = waiting > waiting_ ? waiting - waiting_ : 0;
        // What has grown, and not by what waits, is its own; what was free is not known.
        const std::size_t own = resident > resident_ + came ? own_ + (resident - resident_ - came) : own_;
        peak_ = std::max(peak_, own);
        const std::size_t limit = peak_ + peak_ / kParts;
        const std::size_t most = std::max(waiting_ + kLeast, limit - own);
        if (waiting >= most || resident > std::max(limit, resident_ + kStep)) return true;
        due_.store(std::min(waiting + kStep, most), std::memory_order_relaxed);
        return false;
    }

    static constexpr std::size_t kParts = 5;
    static constexpr std::size_t kLeast = 6 * kMiB;  // so much may wait in any case
    static constexpr std::size_t kStep = kMiB;       // between two looks at what is resident

  private:
    std::size_t peak_ = 0;
    // After the last search.
    std::size_t resident_ = 0;
    std::size_t own_ = 0;
    std::size_t waiting_ = 0;
    std::atomic<std::size_t> due_{kLeast};  // ordered by nothing
};

}  // namespace gr

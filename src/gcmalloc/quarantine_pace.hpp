// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: decides when a search for pointers to waiting blocks is worth its cost: as late as memory allows.
// Invariant: waiting blocks may make the process larger than its own memory ever was, by at most one of kParts parts of
//    that. While the process's own memory is smaller than its peak, more may wait. What is freed while a search ends counts
//    toward the next one, however long that end takes.
// Must not know: how the search works; which blocks wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/config.hpp"

namespace gr {

// All numbers are bytes. Resident memory is the process's own memory, what waits, and what is free in the heap.
class QuarantinePace {
  public:
    constexpr QuarantinePace() = default;

    // Any thread may call this.
    bool is_due(std::size_t waiting) const { return waiting >= due_.load(std::memory_order_relaxed); }

    const std::atomic<std::size_t> &due_cell() const { return due_; }

    // The caller of the other functions holds a lock. Called after a search, of which so much stays. Since the search ended,
    // other threads may have freed more: `resident` and `waiting` are of now.
    void learn(std::size_t stays, std::size_t resident, std::size_t own, std::size_t waiting) {
        const std::size_t came = waiting > stays ? waiting - stays : 0;
        resident_ = resident > came ? resident - came : 0;
        own_ = own;
        waiting_ = stays;
        peak_ = std::max(peak_, own);
        due_.store(stays + kLeast, std::memory_order_relaxed);
    }
    // Called when a search is due. false: more may wait, and the search is due later.
    bool is_worth(std::size_t resident, std::size_t waiting) {
        const std::size_t came = waiting > waiting_ ? waiting - waiting_ : 0;
        // Growth that is not due to waiting blocks counts as the process's own; how much of it is free is not known.
        const std::size_t own = resident > resident_ + came ? own_ + (resident - resident_ - came) : own_;
        peak_ = std::max(peak_, own);
        const std::size_t limit = peak_ + peak_ / kParts;
        const std::size_t most = std::max(waiting_ + kLeast, limit - own);
        if (waiting >= most || resident > std::max(limit, resident_ + kStep)) return true;
        due_.store(std::min(waiting + kStep, most), std::memory_order_relaxed);
        return false;
    }

    static constexpr std::size_t kParts = 5;
    static constexpr std::size_t kLeast = 6 * kMiB;  // this much may always wait
    static constexpr std::size_t kStep = kMiB;       // between two looks at what is resident

  private:
    std::size_t peak_ = 0;
    // As they were when the last search ended.
    std::size_t resident_ = 0;
    std::size_t own_ = 0;
    std::size_t waiting_ = 0;
    std::atomic<std::size_t> due_{kLeast};  // ordered by nothing
};

}  // namespace gr

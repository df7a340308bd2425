// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether work may begin that may take at most one part in kParts of the time. Unused time is saved, up to
//    kSavedNanoseconds.
// Invariant: the time of all work but the last piece, times kParts, is at most the time that passed since
//    kSavedNanoseconds before the first call of may_begin.
// Must not know: the work; the clock.
#pragma once

#include <atomic>
#include <cstdint>

namespace gr {

// Any thread may call any function at any time. The atomic is relaxed: when two threads spend at once, the time of one
// of them may be lost.
template <std::uint64_t kParts, std::uint64_t kSavedNanoseconds>
class TimeBudget {
  public:
    bool may_begin(std::uint64_t now) {
        std::uint64_t next = next_.load(std::memory_order_relaxed);
        if (next == kNever) next_.store(next = saved_at(now), std::memory_order_relaxed);
        return now >= next;
    }
    void spend(std::uint64_t now, std::uint64_t nanoseconds) {
        const std::uint64_t least = saved_at(now);
        const std::uint64_t next = next_.load(std::memory_order_relaxed);
        next_.store((next < least ? least : next) + nanoseconds * kParts, std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint64_t kNever = 0;
    // Time before this moment is not saved.
    static constexpr std::uint64_t saved_at(std::uint64_t now) {
        return now < kSavedNanoseconds ? 0 : now - kSavedNanoseconds;
    }
    std::atomic<std::uint64_t> next_{kNever};
};

}  // namespace gr

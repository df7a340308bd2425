// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether work may begin that is to take at most one part of the time, of which some may be saved up.
// Invariant: what all work took, times kParts, is at most the time since kSavedNanoseconds before the first question, and
//    one piece of work more.
// Must not know: the work; the clock.
#pragma once

#include <atomic>
#include <cstdint>

namespace gr {

// By anyone at any time; ordered by nothing: of what two spend at once, one part may be forgotten.
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
    // The earliest time that may be spent.
    static constexpr std::uint64_t saved_at(std::uint64_t now) {
        return now < kSavedNanoseconds ? 0 : now - kSavedNanoseconds;
    }
    std::atomic<std::uint64_t> next_{kNever};
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the function of gr_statistics_every, called again and again with statistics.
// Invariant: the lock is held while it runs, so that who replaces it waits for its end; but not the function itself.
// Must not know: which thread calls; how statistics are counted.
#pragma once

#include <atomic>

#include "granary/granary.h"
#include "platform/mutex.hpp"

namespace gr {

class StatisticsCall {
  public:
    using Call = void (*)(void *context, const gr_statistics *statistics);

    constexpr StatisticsCall() = default;

    // nullptr: there is none any more.
    void set(unsigned milliseconds, Call call, void *context);

    bool is_set() const { return due_at() != UINT64_MAX; }

    // By the thread that calls. seq_cst, with set: who is about to sleep sees it, or is woken by whoever set it.
    std::uint64_t due_at() const { return due_at_.load(std::memory_order_seq_cst); }
    void call_if_due();

    // In fork's child: the thread that calls is not there, and neither is what the function may need.
    void forget();

  private:
    static constexpr platform::Rank kRank = platform::Rank::statistics_call;

    platform::Mutex mutex_;
    Call call_ = nullptr;
    void *context_ = nullptr;
    std::uint64_t interval_ = 0;  // in nanoseconds
    std::atomic<std::uint64_t> due_at_{UINT64_MAX};
};

}  // namespace gr

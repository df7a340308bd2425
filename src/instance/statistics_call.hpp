// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the function of gr_statistics_every, called again and again with statistics.
// Invariant: the lock is held while the function runs. So a thread that replaces the function waits for its end; the
//    function itself may replace itself without waiting.
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

    // call = nullptr: no function is called any more.
    void set(unsigned milliseconds, Call call, void *context);

    bool is_set() const { return due_at() != UINT64_MAX; }

    // For the thread that calls. seq_cst, pairs with the store in set(): either a thread that is about to sleep sees
    // the new time, or the caller of set() wakes that thread.
    std::uint64_t due_at() const { return due_at_.load(std::memory_order_seq_cst); }
    void call_if_due();

    // In fork's child: the thread that calls does not exist there, and what the function needs may not exist either.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance/statistics_call.hpp"

#include "instance/statistics.hpp"
#include "platform/clock.hpp"

namespace gr {

// If the function itself calls this, it already holds the lock, and the guard does not take the lock again.
void StatisticsCall::set(unsigned milliseconds, Call call, void *context) {
    const platform::Guard guard(mutex_, kRank);
    call_ = call;
    context_ = context;
    interval_ = milliseconds * kNanosecondsPerMillisecond;
    const std::uint64_t due = call == nullptr ? UINT64_MAX : platform::nanoseconds() + interval_;
    due_at_.store(due, std::memory_order_seq_cst);
}

void StatisticsCall::call_if_due() {
    if (!is_set()) return;
    const platform::Guard guard(mutex_, kRank);
    const std::uint64_t now = platform::nanoseconds();
    if (now < due_at()) return;
    due_at_.store(now + interval_, std::memory_order_relaxed);
    gr_statistics statistics = count_statistics(instance);
    ask_resident(&statistics);
    call_(context_, &statistics);
    // A function that takes longer than its interval must leave the lock to a thread that wants to replace it.
    const std::uint64_t earliest = platform::nanoseconds() + kNanosecondsPerMillisecond;
    if (due_at() < earliest) due_at_.store(earliest, std::memory_order_relaxed);
}

void StatisticsCall::forget() {
    mutex_.forget_holder();
    call_ = nullptr;
    due_at_.store(UINT64_MAX, std::memory_order_relaxed);
}

}  // namespace gr

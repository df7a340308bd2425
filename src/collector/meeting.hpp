// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread asks for the company of another; whoever hears it stays where he is until he is let go, or long
//    enough.
// Invariant: while is_attended() somebody is in attend(), and stays there until let_go() or until his time is up.
// Must not know: what is done meanwhile.
#pragma once

#include "platform/futex.hpp"

namespace gr {

class Meeting {
  public:
    constexpr Meeting() = default;

    // The one that asks: until somebody attends, or it is called off.
    void ask() { state_.store(kAsked, std::memory_order_seq_cst); }
    void wait() {
        while (is_asked()) platform::sleep_on(state_, kAsked);
    }
    // With those stopped that may attend: otherwise it is over at once.
    bool is_attended() const { return state_.load(std::memory_order_relaxed) == kAttended; }
    // By anyone, whatever was before: nobody waits any more.
    void let_go() {
        state_.store(kNone, std::memory_order_seq_cst);
        platform::wake_all(state_);
    }

    bool is_asked() const { return state_.load(std::memory_order_relaxed) == kAsked; }
    // Nothing, if nobody asks or another attends already.
    void attend(unsigned milliseconds) {
        std::uint32_t state = kAsked;
        if (!state_.compare_exchange_strong(state, kAttended, std::memory_order_seq_cst)) return;
        platform::wake_all(state_);
        while (is_attended()) {
            state = kAttended;
            if (platform::sleep_on_for(state_, kAttended, milliseconds))
                state_.compare_exchange_strong(state, kLeft, std::memory_order_seq_cst);
        }
    }

  private:
    static constexpr std::uint32_t kNone = 0;
    static constexpr std::uint32_t kAsked = 1;
    static constexpr std::uint32_t kAttended = 2;
    static constexpr std::uint32_t kLeft = 3;  // too early

    platform::FutexWord state_{kNone};  // seq_cst where it changes: who calls off and who asks see one another
};

}  // namespace gr

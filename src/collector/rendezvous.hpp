// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread asks for a thread of the program, which comes and stays until it is let go or its time is up.
// Invariant: while is_attended(), a thread is in attend(). It stays there until let_go() or until its time is up; after
//    hold(), until let_go().
// Must not know: what is done meanwhile.
#pragma once

#include "platform/futex.hpp"

namespace gr {

class Rendezvous {
  public:
    constexpr Rendezvous() = default;

    // The thread that asks waits until a thread attends, or until it is let go.
    void ask() { state_.store(kAsked, std::memory_order_seq_cst); }
    void wait() {
        while (is_asked()) platform::sleep_on(state_, kAsked);
    }
    bool is_attended() const { return is_attended(state_.load(std::memory_order_relaxed)); }
    // Whether a thread attends. Then that thread stays until let_go(), even if its time is up before.
    bool hold() {
        std::uint32_t state = kAttended;
        return state_.compare_exchange_strong(state, kHeld, std::memory_order_seq_cst);
    }
    // Called by any thread, at any time. No thread waits any more.
    void let_go() {
        state_.store(kNone, std::memory_order_seq_cst);
        platform::wake_all(state_);
    }

    bool is_asked() const { return state_.load(std::memory_order_relaxed) == kAsked; }
    // Returns at once if no thread asks, or if another thread attends already.
    void attend(unsigned milliseconds) {
        std::uint32_t state = kAsked;
        if (!state_.compare_exchange_strong(state, kAttended, std::memory_order_seq_cst)) return;
        platform::wake_all(state_);
        while (is_attended(state = state_.load(std::memory_order_relaxed))) {
            const bool is_over = platform::sleep_on_for(state_, state, milliseconds);
            state = kAttended;
            if (is_over) state_.compare_exchange_strong(state, kLeft, std::memory_order_seq_cst);
        }
    }

  private:
    static constexpr std::uint32_t kNone = 0;
    static constexpr std::uint32_t kAsked = 1;
    static constexpr std::uint32_t kAttended = 2;
    static constexpr std::uint32_t kHeld = 3;  // attended
    static constexpr std::uint32_t kLeft = 4;  // too early

    static bool is_attended(std::uint32_t state) { return state == kAttended || state == kHeld; }

    // seq_cst where it changes: pairs with `abandoned_` of the incremental collection. Either the thread that asks sees
    // that the collection was abandoned, or the thread that abandons it lets the other one go.
    platform::FutexWord state_{kNone};
};

}  // namespace gr

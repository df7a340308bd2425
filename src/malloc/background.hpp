// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread of GRANARY_BACKGROUND, for programs that go idle with magazines full and empty memory kept.
// Invariant: there is one at most. It ticks while there is something to give back and sleeps without a clock when there
//    is not; whoever allocates or frees by a slow path looks at one word, and writes to it once a tick.
// Must not know: what is given back, and how.
#pragma once

#include "platform/futex.hpp"

namespace gr {

class Background {
  public:
    constexpr Background() = default;

    // It is wanted, and will be started when the program has come so far. In fork's child, too, where it is gone. The
    // calling thread is the process's first; when that ends alone, so does this, lest it be the last and the process
    // never end.
    void expect();

    // After a slow path, whatever locks are held.
    void note() {
        if (state() != State::active) [[unlikely]]
            note_slowly();
    }
    // The same where a thread may be started: in an allocation that holds no lock.
    void note_and_start() {
        if (state() != State::active) [[unlikely]]
            start_slowly();
    }

  private:
    // active: nobody need say anything, because there is no such thread, or it was said since the last tick.
    enum class State : std::uint32_t { active, expected, due, quiet, asleep };

    State state() const { return static_cast<State>(word_.load(std::memory_order_relaxed)); }
    bool change(State from, State to);
    void note_slowly();
    void start_slowly();
    bool is_ending() const { return ending_.load(std::memory_order_seq_cst) != 0; }
    void run();
    void sleep();
    void end();

    platform::FutexWord word_{0};
    platform::FutexWord ending_{0};
    // Since it is expected; ordered by nothing.
    std::atomic<std::uint32_t> slow_paths_{0};
};

extern Background background;

}  // namespace gr

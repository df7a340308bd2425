// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's own thread: for programs that go idle with magazines full and empty memory kept
//    (GRANARY_BACKGROUND), and for statistics that are wanted again and again (GRANARY_STATS_FILE, gr_statistics_every).
// Invariant: there is one at most, and only while it is wanted for either. It ticks while there is something to give back
//    and sleeps without a clock when there is not and nobody wants statistics; whoever allocates or frees by a slow path
//    looks at one word, and writes to it once a tick.
// Must not know: what is given back, and how; what statistics are.
#pragma once

#include "instance/statistics_call.hpp"
#include "instance/statistics_file.hpp"
#include "platform/futex.hpp"

namespace gr {

class Background {
  public:
    constexpr Background() = default;

    // At the start, by the process's first thread: if the options want the thread, it will be started when the program
    // has come so far.
    void begin();
    // In fork's child, where the thread is gone: as begin, with what is wanted now.
    void begin_in_child();
    // The process ends.
    void end_of_process() { file_.end(); }

    // What gr_option_set does for GRANARY_BACKGROUND, one thread at a time. On: if the thread is not there, it will be
    // started when the program has come so far. false: the process's first thread has not asked for the library's thread
    // yet, or has ended, or libc cannot tell of its end.
    bool switch_on();
    // Nothing is given back any more; and if nobody wants statistics, the thread ends at its next step.
    void switch_off();

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

    // gr_statistics_every: 0, or what errno shall be.
    int call_every(unsigned milliseconds, StatisticsCall::Call call, void *context);

  private:
    // active: nobody need say anything, because there is no such thread, or it does not tick, or it was said since the
    // last tick.
    enum class State : std::uint32_t { active, expected, due, quiet, asleep };

    static constexpr std::uint64_t kNever = UINT64_MAX;

    State state() const { return static_cast<State>(word_.load(std::memory_order_relaxed)); }
    bool change(State from, State to);
    bool may_tick() const { return ticks_.load(std::memory_order_seq_cst); }
    bool has_task() const;
    bool is_wanted() const { return !first_thread_ended_.load(std::memory_order_seq_cst) && has_task(); }
    bool tie();
    void expect();
    void expect_no_more();
    void note_slowly();
    void start_slowly();
    int start();
    int start_for(unsigned milliseconds, StatisticsCall::Call call, void *context);
    void run();
    void serve();
    bool leave();
    std::uint64_t next_tick(std::uint64_t tick_at);
    std::uint64_t tick();
    void rest_until(std::uint64_t time, std::uint32_t news);
    void wake();
    void end_with_first_thread();

    platform::FutexWord word_{0};
    // Changes whenever the thread shall look what is due, or whether it is wanted.
    platform::FutexWord news_{0};
    // Since it is expected; ordered by nothing.
    std::atomic<std::uint32_t> slow_paths_{0};
    std::atomic<bool> is_tied_{false};  // to the end of the first thread, by that thread; it orders nothing
    // Whoever makes it true starts the thread, which makes it false when it leaves. seq_cst, as what the thread is
    // wanted for, which are the next three and call_: whoever wants it finds it there, or it finds that it is wanted.
    std::atomic<bool> is_present_{false};
    std::atomic<bool> first_thread_ended_{false};
    std::atomic<bool> ticks_{false};
    std::atomic<std::uint32_t> callers_{0};  // who start the thread to set a call, and have not yet
    unsigned quiet_ticks_ = 0;               // of the thread itself
    StatisticsFile file_;
    StatisticsCall call_;
};

extern Background background;

}  // namespace gr

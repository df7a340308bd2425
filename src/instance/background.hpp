// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's own thread. It returns memory of programs that go idle with full magazines and empty memory
//    retained (GRANARY_BACKGROUND), and serves statistics that are wanted repeatedly (GRANARY_STATS_FILE,
//    gr_statistics_every).
// Invariant: there is at most one such thread, and only while one of the two wants it. It ticks while there is
//    something to return. Otherwise it sleeps, without a timeout if no statistics are wanted. A slow path reads one
//    word, and writes to it once a tick.
// Must not know: what memory is returned, and how; what statistics are.
#pragma once

#include "instance/statistics_call.hpp"
#include "instance/statistics_file.hpp"
#include "platform/futex.hpp"

namespace gr {

class Background {
  public:
    constexpr Background() = default;

    // Called at start-up, by the first thread of the process. If the options want the library's thread, an allocation
    // starts it after kSlowPathsToStart slow paths.
    void begin();
    // In fork's child, where the thread does not exist: like begin, for what is wanted now.
    void begin_in_child();
    // Called when the process ends.
    void end_of_process() { file_.end(); }

    // What gr_option_set does for GRANARY_BACKGROUND, one thread at a time. If the thread does not run, it is started
    // as after begin. false: the first thread of the process has not asked for the library's thread yet, has ended, or
    // libc cannot tell of its end.
    bool switch_on();
    // The thread returns no memory any more. If no statistics are wanted, it ends at its next step.
    void switch_off();

    // Called after a slow path, whatever locks are held.
    void note() {
        if (state() != State::active) [[unlikely]]
            note_slowly();
    }
    // Like note, but may start the thread: for an allocation that holds no lock.
    void note_and_start() {
        if (state() != State::active) [[unlikely]]
            start_slowly();
    }

    // What gr_statistics_every does: 0, or a value for errno.
    int call_every(unsigned milliseconds, StatisticsCall::Call call, void *context);

  private:
    // active: a slow path has nothing to note: there is no thread, or it does not tick, or a slow path noted since the
    // last tick. expected: slow paths are counted until the start is due. due: the next allocation starts the thread.
    // quiet: nothing was noted since the last tick. asleep: the thread does not tick until a slow path wakes it.
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
    // Changes when the thread must look again at what is due and whether it is wanted.
    platform::FutexWord news_{0};
    // Slow paths since State::expected; orders nothing.
    std::atomic<std::uint32_t> slow_paths_{0};
    std::atomic<bool> is_tied_{false};  // the first thread registered for its end; orders nothing
    // The caller that makes it true starts the thread; the thread makes it false when it leaves. seq_cst, like the next
    // three and call_, which say whether the thread is wanted: either the caller that wants the thread finds it
    // present, or the leaving thread finds that it is wanted.
    std::atomic<bool> is_present_{false};
    std::atomic<bool> first_thread_ended_{false};
    std::atomic<bool> ticks_{false};
    std::atomic<std::uint32_t> callers_{0};  // callers that start the thread and have not set their call yet
    unsigned quiet_ticks_ = 0;               // in a row; only for the thread itself
    StatisticsFile file_;
    StatisticsCall call_;
};

extern Background background;

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the recording while it goes on: signals, samples, processes that end, and what is shown of it.
// Invariant: an interrupt from the terminal is the program's that the recorder started; the second one, and what tells the
//    recorder to end, end the recording and not the program. In a process that ran before, the first one does.
// Must not know: how a trace is written.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "commands/record/encoder.hpp"
#include "commands/record/started_program.hpp"
#include "commands/record/unarrived.hpp"

namespace gr::tool {

// Those that the recorder reads, and that are blocked as long as it lives.
class WatchedSignals {
  public:
    // Throws Failure.
    WatchedSignals();
    ~WatchedSignals();
    WatchedSignals(const WatchedSignals &) = delete;
    WatchedSignals &operator=(const WatchedSignals &) = delete;

    // What was blocked before.
    [[nodiscard]] const sigset_t &before() const { return before_; }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    // The next that came; 0: none.
    [[nodiscard]] int next() const;

  private:
    sigset_t before_{};
    int descriptor_ = -1;
};

struct WatchEnd {
    int exit_code = 0;
};

// What is recorded, and how long.
struct WatchedProgram {
    StartedProgram *started = nullptr;  // nullptr: a process that ran before
    std::optional<std::chrono::seconds> most_time;
};

class Watch {
  public:
    Watch(const RecordingParts &parts, const Encoder &encoder, const WatchedProgram &program,
          const WatchedSignals &signals);

    // Until the program and all processes that it left behind have ended, or the recording is to end.
    [[nodiscard]] WatchEnd run();

  private:
    using Clock = std::chrono::steady_clock;

    void sleep() const;
    void take_signals();
    void end_gone();
    void sample();
    void show(Clock::time_point now);
    [[nodiscard]] bool is_over();
    [[nodiscard]] bool is_process_over() const;
    [[nodiscard]] int exit_code() const;
    [[nodiscard]] bool awaits(const std::vector<UnarrivedProcess> &unarrived);

    RecordingParts parts_;
    const Encoder &encoder_;
    StartedProgram *program_;
    std::optional<Clock::time_point> end_;
    const WatchedSignals &signals_;
    std::optional<int> status_;
    int interrupts_ = 0;
    int ended_by_ = 0;  // a signal
    bool has_told_of_rest_ = false;
    Clock::time_point next_shown_;
    Clock::time_point next_look_;                      // for processes that have not arrived
    std::optional<Clock::time_point> unloaded_since_;  // there are none but such as have not loaded the library
    bool has_told_of_unarrived_ = false;
};

}  // namespace gr::tool

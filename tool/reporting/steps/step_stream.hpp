// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the steps of a trace, or of a window of it, in batches, made by a thread of their own while the batches before
//    are worked on.
// Invariant: in order. Whatever goes wrong there is thrown where the batch would have been handed out.
// Must not know: what is done with the steps.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "reading/trace/playback.hpp"
#include "reporting/steps/course.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

using Batch = std::vector<Step>;

// At what is played at a moment, before any later step is made.
struct Look {
    trace::Time time;  // all events until it have been played
    std::function<void(const trace::Playback &)> use;
};

class StepStream {
  public:
    struct Way {
        std::vector<Look> looks;                    // by time. They are used by the thread that makes the steps
        const trace::Position *position = nullptr;  // before the window, to begin there
        Course *course = nullptr;
    };

    StepStream(const Scope &scope, Way way);
    ~StepStream();
    StepStream(const StepStream &) = delete;
    StepStream &operator=(const StepStream &) = delete;

    // nullptr: that was all. What was handed out before is no longer there.
    const Batch *next();

    // Behind the end: events that could not be read.
    [[nodiscard]] std::uint64_t left_out() const { return playback_.stream().left_out(); }

  private:
    class Maker;
    void make();
    // false: nobody wants any more.
    bool hand_over(Batch *batch);

    static constexpr std::size_t kSteps = 4096;  // of a batch: in the cache of the second level
    static constexpr std::size_t kWaiting = 4;   // batches

    trace::Playback playback_;
    const Scope &scope_;
    Way way_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Batch> waiting_;  // the oldest first
    std::vector<Batch> empty_;
    Batch current_;
    bool is_made_ = false;
    bool is_given_up_ = false;
    std::exception_ptr failure_;
    std::thread maker_;
};

}  // namespace gr::tool

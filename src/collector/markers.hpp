// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads that help to mark: they sleep until the one that collects has more to do than it soon will.
// Invariant: but between begin() and finish() none of them touches a mark, a block or the worklist; they run while the
//    world is stopped.
// Must not know: roots; what becomes of what is not marked.
#pragma once

#include "collector/marker.hpp"
#include "platform/helper_thread.hpp"

namespace gr {

inline constexpr unsigned kMostMarkers = 16;

class Markers {
  public:
    // `thread` calls help().
    constexpr Markers(const Field &field, const MarkProcedures &procedures, const platform::Helper &thread)
        : field_(field), procedures_(procedures), thread_(thread) {}

    // Of all that mark, the thread that collects among them; 0: as many as there are CPUs for the process.
    void set_most(unsigned most) { most_ = most; }
    // Those that help.
    unsigned helpers() const { return helper_count_; }

    // Before the stop, with no lock that a new thread may need: there shall be helpers, if so much may be live that
    // they are worth it. Fewer, if the kernel refuses.
    void ensure_helpers();
    void ensure_helpers_for(std::size_t live_bytes) {
        if (live_bytes >= kWorthHelp) ensure_helpers();
    }
    // For the stop: it must not stop them.
    std::span<const std::uint32_t> tasks() const { return {&tasks_[0], helper_count_}; }
    // What of theirs lies below holds addresses of former markings.
    std::span<const char *const> stack_pointers() const { return {&stack_pointers_[0], helper_count_}; }

    // Of a marker between begin() and finish(), or before.
    MarkSetup setup(std::uint8_t number, MarkMode mode);
    // The marker scans the roots first: begin(); then it marks to the end, helped: finish(). false: one of them failed,
    // or it was abandoned.
    void begin(std::uint8_t number, MarkMode mode);
    bool finish(Marker &marker);
    // By anyone: what is being marked is not wanted any more.
    void abandon() { worklist_.abandon(); }
    // By anyone: the program waits for it.
    void hurry() { worklist_.hurry(); }
    // Nobody marks: what was left for later is forgotten.
    void forget_left();
    // Nobody marks: their memory goes back but for so many pieces.
    void shrink(std::size_t keep);

    void forget_other_threads();
    // What a helper does, for ever.
    void help();

  private:
    static constexpr std::size_t kWorthHelp = 4 * kMiB;  // below it threads cost more than they help

    const Field &field_;
    const MarkProcedures &procedures_;
    const platform::Helper &thread_;
    Worklist worklist_;
    Worklist later_;
    unsigned most_ = 0;
    std::uint8_t number_ = 0;  // ordered by the worklist's begin and join, as the mode
    MarkMode mode_ = MarkMode::stopped;
    unsigned helper_count_ = 0;
    std::array<std::uint32_t, kMostMarkers> tasks_{};
    std::array<const char *, kMostMarkers> stack_pointers_{};
    platform::FutexWord arrived_{0};   // release, with the acquire of ensure_helpers: the task's number is there
    std::atomic<bool> failed_{false};  // one that helps; ordered by the worklist's leave and end
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads that help to mark. They sleep until the thread that collects has worked alone for a while.
// Invariant: helpers touch marks, blocks and the worklist only between begin() and finish(). They run while the program
//    is stopped.
// Must not know: roots; what becomes of blocks that are not marked.
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

    // The number of threads that mark, with the thread that collects. 0: the number of CPUs of the process.
    void set_most(unsigned most) { most_ = most; }
    // The number of helpers.
    unsigned helpers() const { return helper_count_; }

    // Before the stop, with no lock held that a new thread may need. Starts helpers; fewer if the kernel refuses. With
    // `live_bytes`: only if so much may be live that helpers are worth it.
    void ensure_helpers();
    void ensure_helpers_for(std::size_t live_bytes) {
        if (live_bytes >= kWorthHelp) ensure_helpers();
    }
    // For the stop, which leaves the helpers running.
    std::span<const std::uint32_t> tasks() const { return {&tasks_[0], helper_count_}; }
    // Below these pointers the helpers' stacks hold addresses of earlier collections.
    std::span<const char *const> stack_pointers() const { return {&stack_pointers_[0], helper_count_}; }

    // For a marker between begin() and finish(), or before.
    MarkSetup setup(std::uint8_t number, MarkMode mode);
    // begin(); then the marker scans the roots; then finish() marks to the end with helpers. false: a marker failed,
    // or the marking was abandoned.
    void begin(std::uint8_t number, MarkMode mode);
    bool finish(Marker &marker);
    // Called by any thread: the marking is not wanted any more.
    void abandon() { worklist_.abandon(); }
    // Called by any thread: the program waits for the marking.
    void hurry() { worklist_.hurry(); }
    // While no thread marks. Forgets the blocks that were left for the last stop.
    void forget_left();
    // While no thread marks. Returns the worklists' memory except so many segments.
    void shrink(std::size_t keep);

    void forget_other_threads();
    // What a helper does. Does not return.
    void help();

  private:
    static constexpr std::size_t kWorthHelp = 4 * kMiB;  // with less, helpers cost more than they save

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
    platform::FutexWord arrived_{0};   // released by help(), acquired by ensure_helpers(): tasks_ has the helper
    std::atomic<bool> failed_{false};  // whether a helper failed; ordered by the worklist's leave and end
};

}  // namespace gr

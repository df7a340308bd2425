// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the stage calls in a shown library besides malloc and its family.
// Invariant: the library and the stage are built from the same file. One thread at a time is in a step.
// Must not know: any allocator, and scripts.
#pragma once

namespace gr::lab::show {

struct ChosenAllocator {
    const char *name;
    const char *refusal;  // why it cannot be shown; nullptr: it can
};

using Stopped = void (*)();

struct StageFunctions {
    // Writes the file's first line. Memory for the picture is taken of the kernel. false: there is none. A thread calls
    // `stopped` in the middle of a call: where it holds its first lock, if the step says so, and where a lock is another
    // thread's. It goes on when the function returns.
    bool (*start)(int file, const char *script, Stopped stopped);
    // What the thread with this number does until end_step is one step. note: nullptr, or a comment. The step that ends
    // a thread is ended by another thread.
    void (*begin_step)(unsigned line, unsigned thread, const char *call, const char *note, bool stops_at_lock);
    void (*end_step)();
    // A block that was allocated in this step.
    void (*name)(const void *block, const char *name);
    // From here on nothing is in a place of the thread.
    void (*thread_ended)(unsigned thread);
    const ChosenAllocator *chosen;
};

inline constexpr const char *kStageFunctions = "granary_lab_stage_functions";

}  // namespace gr::lab::show

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the two variables that make a program load this library and find the recorder: LD_PRELOAD and GR_RECORDING. A
//    program that exec starts without them gets them, so that it is recorded, too.
// Invariant: nothing is allocated, and no lock is taken: a child of vfork calls this. All else in the environment stays.
// Must not know: which function starts the program.
#pragma once

#include <cstddef>

namespace gr {

class HandedOn {
  public:
    constexpr HandedOn() = default;

    // Once, while this process's environment is still as it was started.
    void learn();

    // A recorder lives, and programs that this process starts are to be recorded.
    bool is_in_force() const;
    // false: the kernel will not let a program that this process starts open the recording, because the process runs
    // neither as root nor as the recorder's user.
    bool is_within_reach() const;
    // What a program's environment lacks. Nothing where it is not in force.
    struct Lack {
        bool preload = false;
        bool recording = false;
        std::size_t entries = 0;        // of the environment
        std::size_t preload_bytes = 0;  // of the text that takes the place of its LD_PRELOAD
    };
    Lack lack_of(const char *const *environment) const;
    // Fills what has entries + 3 words and preload_bytes bytes.
    void complete(const char *const *environment, const Lack &lack, const char **entries, char *preload) const;

  private:
    static constexpr std::size_t kMostBytes = 4096;

    char preload_[kMostBytes] = {};    // whole, with its name; empty: this library was not preloaded
    char recording_[kMostBytes] = {};  // likewise
};

inline constinit HandedOn handed_on;

}  // namespace gr

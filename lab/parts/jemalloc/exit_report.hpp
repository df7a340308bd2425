// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a report at the end of the program, for the code that asked for it.
// Invariant: given once, when the library is finished: after main and what was registered with atexit, to standard
//    error as it was when it was asked for.
// Must not know: what is reported.
#pragma once

#include <atomic>

#include "base/text.hpp"
#include "platform/process.hpp"

namespace gr::lab {

class ExitReport {
  public:
    using Write = void (*)(void *of);

    // Once.
    void ask_for(Write write, void *of) {
        stderr_.keep();
        of_ = of;
        write_.store(write, std::memory_order_release);  // what was written before, to the acquire of give
    }
    void give() {
        if (const Write write = write_.exchange(nullptr, std::memory_order_acquire)) write(of_);
    }
    void say(const Text &text) const { stderr_.write_all(text.data(), text.size()); }

  private:
    platform::KeptStderr stderr_;
    void *of_ = nullptr;
    std::atomic<Write> write_{nullptr};
};

// Of the process: one allocator has one face.
inline constinit ExitReport exit_report;

[[gnu::destructor, gnu::used]] static void give_exit_report() { exit_report.give(); }

}  // namespace gr::lab

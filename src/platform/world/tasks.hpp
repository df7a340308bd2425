// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads of this process that the kernel lists.
// Invariant: takes no memory and no lock of libc's; a thread that exists from the first call to the last is listed,
//    unless the list ends early (next()).
// Must not know: what the threads are for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

class Tasks {
  public:
    Tasks();
    ~Tasks();
    Tasks(const Tasks &) = delete;
    Tasks &operator=(const Tasks &) = delete;

    // false: /proc is not there.
    bool opened() const { return fd_ >= 0; }
    // The id of the next thread. 0: the thread before was the last, or it has just ended and the threads behind it are
    // not listed.
    std::uint32_t next();

  private:
    bool read_more();

    long fd_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    alignas(8) char names_[2048];
};

std::uint32_t task_of_caller();

// How many threads the process has; 0: not known.
std::uint32_t task_count();
// Whether a thread of this process has ended. A first thread that has ended while others run is still listed, and takes
// signals that no handler sees.
bool has_ended(std::uint32_t id);
// false: the thread does not block the signal or has ended, or /proc is not there.
bool blocks_signal(std::uint32_t id, int signal);
// Whether a signal waits that the thread does not block.
bool is_signal_due(std::uint32_t id);
// The stack pointer of a thread that is inside a system call; nullptr: the thread runs, waits elsewhere or has ended.
const char *sleeping_stack_pointer(std::uint32_t id);
// Whether the thread sleeps in a system call that makes threads and processes, or in one that waits for signals.
bool makes_task(std::uint32_t id);
bool takes_signals(std::uint32_t id);

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads that the kernel knows of this process.
// Invariant: takes no memory and no lock of libc's; a thread that is there from the first call to the last is told.
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
    // The next one's id. 0: that was the last, or the one told before has just gone, and those behind it are not told.
    std::uint32_t next();

  private:
    bool read_more();

    long fd_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    alignas(8) char names_[2048];
};

std::uint32_t task_of_caller();

// How many the process has; 0: not known.
std::uint32_t task_count();
// Of a task of this process. A first thread that has ended while others run is still told, and takes signals that nobody
// handles.
bool has_ended(std::uint32_t id);
// false: it is gone, or /proc is not there.
bool blocks_signal(std::uint32_t id, int signal);
// Where its stack ends, as far as it is inside a system call; nullptr: it runs, or is gone.
const char *sleeping_stack_pointer(std::uint32_t id);
// Whether it sleeps in the system call that makes threads and processes, or in the one that takes signals as they come.
bool makes_task(std::uint32_t id);
bool takes_signals(std::uint32_t id);

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: that a thread ends is told to who asked for it.
// Invariant: told after the destructors of thread-specific data that the program made before; what the thread allocates
//    or frees later it does as one that has ended.
// Must not know: what is done then.
#pragma once

#include <pthread.h>

namespace gr::lab {

class ThreadEnd {
  public:
    using Told = void (*)();

    // Once, before the second thread.
    void start(Told told) {
        told_ = told;
        is_started_ = pthread_key_create(&key_, [](void *what) { reinterpret_cast<Told>(what)(); }) == 0;
    }
    // For the calling thread. libc allocates nothing for the first keys of a process.
    void watch() {
        if (is_started_) pthread_setspecific(key_, reinterpret_cast<const void *>(told_));
    }

  private:
    Told told_ = nullptr;
    pthread_key_t key_ = 0;
    bool is_started_ = false;
};

// Of the process: one allocator has one face.
inline constinit ThreadEnd thread_end;

}  // namespace gr::lab

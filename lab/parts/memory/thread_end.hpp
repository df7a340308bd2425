// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: calls a function when a thread ends that asked for it.
// Invariant: the function runs after the destructors of thread-specific data that the program made before. Afterwards
//    the thread may still call malloc and free, as a thread that has ended.
// Must not know: what the function does.
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

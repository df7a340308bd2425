// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a counting semaphore over libc's.
// Invariant: a thread that waits gets up for each unit that is released. std::counting_semaphore of libstdc++ 12 does not
//    keep this with several waiting threads: one may sleep for ever while the count is 1.
// Must not know: what a unit stands for.
#pragma once

#include <semaphore.h>

#include <cerrno>

namespace gr::test {

class Semaphore {
  public:
    explicit Semaphore(unsigned units) { sem_init(&semaphore_, 0, units); }
    ~Semaphore() { sem_destroy(&semaphore_); }
    Semaphore(const Semaphore &) = delete;
    Semaphore &operator=(const Semaphore &) = delete;

    void acquire() {
        while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
        }
    }
    void release() { sem_post(&semaphore_); }

  private:
    sem_t semaphore_;
};

}  // namespace gr::test

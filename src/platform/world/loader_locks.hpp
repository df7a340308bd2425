// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether a thread may hold one of the loader's locks for which another thread waits while it lists the libraries
//    or makes a thread; and the lock of the list of libraries, for a thread that may not wait for long.
// Invariant: libc has no interface to these locks. initialise() finds them by a trial, and uses only what the trial
//    confirmed. If it finds none, they may always be held.
// Must not know: why a thread lists libraries or makes a thread.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace gr::platform {

class LoaderLocks {
  public:
    constexpr LoaderLocks() = default;

    // Called once, by any thread. Lists the libraries.
    void initialise();
    bool are_known() const { return list_ != nullptr; }
    // Whether any other thread than this one may hold one now.
    bool may_be_held_by_other_than(std::uint32_t task) const;

    // Takes the list's lock, which its holder may take again, and waits for it at most so many milliseconds. false: the
    // time was up. Where the lock is not known nothing is taken, and the answer is true.
    [[nodiscard]] bool hold_list(unsigned milliseconds) const;
    void let_list_go() const;

  private:
    pthread_mutex_t *list_ = nullptr;           // held while libraries are listed, and while one comes or goes
    const pthread_mutex_t *threads_ = nullptr;  // held while a thread is made; nullptr: there is none
};

}  // namespace gr::platform

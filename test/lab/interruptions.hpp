// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what disturbs restartable sequences: signals at short intervals, and threads that share one CPU.
// Invariant: all is as before at the end of a scope.
// Must not know: which sequences.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/time.h>

namespace gr::lab {

// Every few dozen microseconds.
class Interruptions {
  public:
    Interruptions() {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        sigaction(SIGALRM, &action, &before_);
        const itimerval often{{0, 40}, {0, 40}};
        setitimer(ITIMER_REAL, &often, nullptr);
    }
    ~Interruptions() {
        const itimerval never{};
        setitimer(ITIMER_REAL, &never, nullptr);
        sigaction(SIGALRM, &before_, nullptr);
    }
    Interruptions(const Interruptions &) = delete;
    Interruptions &operator=(const Interruptions &) = delete;

  private:
    struct sigaction before_ {};
};

// The calling thread stays on the CPU on which it is, and so do the threads that it makes.
class OnOneCpu {
  public:
    OnOneCpu() {
        sched_getaffinity(0, sizeof before_, &before_);
        move_to(sched_getcpu());
    }
    ~OnOneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
    OnOneCpu(const OnOneCpu &) = delete;
    OnOneCpu &operator=(const OnOneCpu &) = delete;

    // false: the process may not run there.
    static bool move_to(int cpu) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(cpu), &one);
        return sched_setaffinity(0, sizeof one, &one) == 0;
    }
    // Another CPU that the process could run on before; -1: there is none.
    int another() const {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(static_cast<unsigned>(cpu), &before_) && cpu != sched_getcpu()) return cpu;
        return -1;
    }

  private:
    cpu_set_t before_{};
};

}  // namespace gr::lab

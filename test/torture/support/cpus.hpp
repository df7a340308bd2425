// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the CPUs this process may use, and binding a thread to one of them.
// Invariant: CPU numbers need be neither dense nor from zero.
// Must not know: what the threads do.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

#include "require.hpp"

namespace gr::test {

inline std::vector<int> allowed_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) fail("sched_getaffinity: %s", std::strerror(errno));
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
    return cpus;
}

// Thread 0 is the caller.
inline void pin(pid_t thread, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(cpu), &set);
    if (sched_setaffinity(thread, sizeof set, &set) != 0)
        fail("sched_setaffinity to CPU %d: %s", cpu, std::strerror(errno));
}

}  // namespace gr::test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: opens what the kernel tells of this process under /proc, also where the process has as many descriptors as it
//    may.
// Invariant: the limit is afterwards what it was.
// Must not know: what is told there.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>

#include "platform/file.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {

// For this call it may have as many as it might allow itself. Who sets the limit at the same time may lose it.
inline long open_beyond_limit(const char *path) {
    rlimit limit{};
    if (system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) != 0) return -EMFILE;
    const rlimit highest{limit.rlim_max, limit.rlim_max};
    system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &highest, nullptr);
    const long fd = open_file(path);
    system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, nullptr);
    return fd;
}

// A descriptor, or the kernel's negative errno.
inline long open_listing(const char *path) {
    const long fd = open_file(path);
    return fd == -EMFILE ? open_beyond_limit(path) : fd;
}

}  // namespace gr::platform

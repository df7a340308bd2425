// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: opens files under /proc in which the kernel describes this process, even when the process has used up its
//    descriptors.
// Invariant: the limit on descriptors is the same afterwards.
// Must not know: what the files say.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>

#include "platform/file.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {

// Raises the limit for this call as far as the process may. If another thread sets the limit at the same time, that
// change may be lost.
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

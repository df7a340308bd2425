// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much memory the process's control group may use, in either version of cgroups.
// Invariant: raw system calls into buffers on the stack; a file that cannot be read sets no limit.
// Must not know: what the allocator does with the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

inline constexpr std::size_t kNoMemoryLimit = SIZE_MAX;

// The least limit of the process's group and the groups around it. `membership` is a file like /proc/self/cgroup,
// `root` the folder in which the hierarchies are mounted.
std::size_t cgroup_memory_limit(const char *membership = "/proc/self/cgroup", const char *root = "/sys/fs/cgroup");

}  // namespace gr::platform

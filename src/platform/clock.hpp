// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the time, in nanoseconds.
// Invariant: usable before main and in signal handlers; no system call where the kernel maps its clock (vDSO).
// Must not know: what the time is for.
#pragma once

#include <cstdint>

namespace gr::platform {

// Both read a clock that only goes forward. The resolution of rough_nanoseconds() is a few milliseconds.
std::uint64_t rough_nanoseconds();
std::uint64_t nanoseconds();
// CPU time, which does not pass while other processes have the CPU; a system call. 0 if the kernel refuses it.
std::uint64_t cpu_nanoseconds_of_process();
std::uint64_t cpu_nanoseconds_of_thread();
// Since 1970.
std::uint64_t wall_clock_nanoseconds();

}  // namespace gr::platform

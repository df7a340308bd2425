// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes sums by stack as a profile that pprof reads: profile.proto, in gzip's container.
// Invariant: takes no memory of an allocator and no lock, so that a signal handler may call it.
// Must not know: when the sums were taken.
#pragma once

#include <span>

#include "profile/sites.hpp"

namespace gr {

// The sums of one moment. Each site's peak is its sum at the peak of the program.
struct ProfileMoment {
    std::span<const Site> sites{};
    const Stacks *stacks = nullptr;
    std::uint64_t mean = 0;
    std::uint64_t began = 0;        // nanoseconds since 1970
    std::uint64_t nanoseconds = 0;  // the time since then
    std::uint64_t missed = 0;       // samples that could not be taken
};

// 0: the file is complete. Otherwise the kernel's negative errno.
[[gnu::cold]] long write_pprof(const char *path, const ProfileMoment &moment);

}  // namespace gr

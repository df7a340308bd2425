// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sums by stack as a profile that pprof reads: profile.proto, in gzip's container.
// Invariant: takes no memory of an allocator's and no lock; may be called in a signal handler.
// Must not know: when the sums were taken.
#pragma once

#include <span>

#include "profile/sites.hpp"

namespace gr {

// Of one moment; each site's peak is its sum at the peak.
struct ProfileMoment {
    std::span<const Site> sites{};
    const Stacks *stacks = nullptr;
    std::uint64_t mean = 0;
    std::uint64_t began = 0;  // nanoseconds since 1970, and how many went by
    std::uint64_t nanoseconds = 0;
    std::uint64_t missed = 0;  // samples that could not be taken
};

// The kernel's negative errno, or 0: the file is there, whole.
[[gnu::cold]] long write_pprof(const char *path, const ProfileMoment &moment);

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a script played once on one allocator, in a process of its own, and what that took.
// Invariant: the process has the chosen allocator, which is looked up in its mappings; a process that dies is a
//    Failure.
// Must not know: the trace; how results are shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reading/allocators/chosen_allocator.hpp"

namespace gr::tool {

struct ResidentPoint {
    std::uint64_t operations = 0;  // that had been done
    std::uint64_t bytes = 0;       // of the heap, resident
};

struct Performance {
    double wall_seconds = 0;
    double user_seconds = 0;
    double system_seconds = 0;
    std::uint64_t faults = 0;
    std::uint64_t failed = 0;        // calls that got no memory
    std::uint64_t live_at_peak = 0;  // bytes asked for, counted by the player at the moment when most was in use
    // Anonymous memory beyond what the player had before its first operation.
    std::uint64_t resident_at_peak = 0;  // at that moment
    std::uint64_t most_resident = 0;
    std::uint64_t resident_at_end = 0;
    std::vector<ResidentPoint> resident;
};

[[nodiscard]] Performance perform(int script, const ChosenAllocator &allocator);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: makes a script for the player out of a trace.
// Invariant: each thread has its own calls in its own order; those that touch one block of several threads wait for
//    each other. At a milestone all have come as far as they had in the recording; the moment when most was in use is
//    one.
// Must not know: which allocator the script will be played on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/replay/touched_pages.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

// A point of the recording, for the pictures: how much was in use when so many operations had been done.
struct LivePoint {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
};

// What the script does, and what of the trace it leaves out.
struct Plan {
    int file = -1;  // the script, a ScriptHead first; closed with the plan
    std::uint64_t operations = 0;
    std::uint32_t threads = 0;
    std::uint64_t peak_bytes = 0;  // asked for, in use at once
    std::uint64_t end_bytes = 0;   // in use after the last operation
    std::uint64_t unknown_frees = 0;
    std::vector<LivePoint> live;  // at most kLivePoints

    Plan() = default;
    ~Plan();
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
};
inline constexpr unsigned kLivePoints = 1000;

// Throws Failure. A trace that lost events is refused: what it frees is not what it obtained.
void plan(const trace::Trace &trace, Touch touch, Plan *plan);

}  // namespace gr::tool

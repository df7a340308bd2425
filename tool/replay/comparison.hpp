// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace took on several allocators, side by side, as text and as JSON.
// Invariant: of several rounds a number is the median, with the least and the most beside it; the text's first column is what the
//            JSON calls allocators. What a replay cannot show is said.
// Must not know: how it was measured.
#pragma once

#include <string>
#include <vector>

#include "replay/performance.hpp"
#include "replay/planner.hpp"
#include "trace/reader.hpp"

namespace gr::replay {

struct AllocatorRounds {
    tool::ChosenAllocator allocator;
    std::vector<Performance> rounds;
};

[[nodiscard]] std::string comparison_text(const trace::Trace &trace, const Plan &plan,
                                          const std::vector<AllocatorRounds> &results);
[[nodiscard]] std::string comparison_json(const trace::Trace &trace, const Plan &plan,
                                          const std::vector<AllocatorRounds> &results);

}  // namespace gr::replay

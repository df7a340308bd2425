// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace took on several allocators, side by side, as text and as JSON.
// Invariant: of several rounds a number is the median, with the least and the most beside it; the text's first column
//    is what the JSON calls allocators. What a replay cannot show is said.
// Must not know: how it was measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "commands/replay/performance.hpp"
#include "commands/replay/planner.hpp"
#include "reading/allocators/chosen_allocator.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

struct AllocatorRounds {
    ChosenAllocator allocator;
    std::vector<Performance> rounds;
};

// Of several rounds.
struct Range {
    double median = 0;
    double least = 0;
    double most = 0;
};
struct Measure {
    const char *name;   // in JSON
    const char *title;  // in a table; empty: it stands in none
    Unit unit;
    double (*get)(const Performance &);
};
enum MeasureIndex : std::uint8_t { kWall, kCpu, kMost, kPeakResident, kEndResident, kLiveAtPeak, kFaults, kFailed };
extern const std::array<Measure, 8> kMeasures;  // by MeasureIndex
extern const std::array<const char *, 4> kNotShown;

[[nodiscard]] Range range_of(const AllocatorRounds &one, const Measure &measure);
// Who takes the least of it, in the median.
[[nodiscard]] const AllocatorRounds &least_of(const std::vector<AllocatorRounds> &results, const Measure &measure);

[[nodiscard]] std::string comparison_text(const trace::Trace &trace, const Plan &plan,
                                          const std::vector<AllocatorRounds> &results);
[[nodiscard]] std::string comparison_json(const trace::Trace &trace, const Plan &plan,
                                          const std::vector<AllocatorRounds> &results);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what was sampled of the process, at the points of time of a report.
// Invariant: at a point stands the last sample until its end; before the first it is not known.
// Must not know: what the samples are shown beside.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/contents.hpp"
#include "reporting/steps/scope.hpp"

namespace gr::tool {

[[nodiscard]] std::vector<double> at_points(const Scope &scope, std::uint64_t trace::Sample::*number);

// How much it grows a second, from sample to sample.
[[nodiscard]] std::vector<double> growth_at_points(const Scope &scope, std::uint64_t trace::Sample::*number);

// In that time; nullptr: there are none.
[[nodiscard]] const trace::Sample *highest_resident(const Scope &scope);

// Of CPU time, in seconds; of a window as much as fits its length, where it ends between samples. 0: not known.
[[nodiscard]] double processor_seconds(const Scope &scope);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks and bytes by call stack: all that were allocated, and those in use at a moment.
// Invariant: where stacks were sampled, a block counts for as many as it stands for, and one without a stack for none;
//    else those without stand under stack 0.
// Must not know: what a stack is called.
#pragma once

#include <vector>

#include "reading/trace/reader.hpp"
#include "reporting/steps/stack_totals.hpp"

namespace gr::tool {

struct StackUse {
    trace::StackNumber stack{};
    StackSum allocated;
    StackSum at_peak;
    StackSum at_end;
};

// By number; without those of which no block was allocated.
[[nodiscard]] std::vector<StackUse> stack_uses(const StackTotals &totals);
[[nodiscard]] std::vector<StackUse> stack_profile(const trace::Trace &trace);

inline constexpr const char *kNoStack = "(no stack was taken)";

}  // namespace gr::tool

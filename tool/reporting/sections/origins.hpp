// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on where memory comes from: a flame graph of what was allocated, of the peak, and of the end.
// Invariant: what was allocated is known by slice of time, so that a window can be selected.
// Must not know: how stacks were counted.
#pragma once

#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/shown_threads.hpp"
#include "reporting/steps/stack_totals.hpp"

namespace gr::tool {

[[nodiscard]] Section origins_section(const Scope &scope, const StackTotals &totals, const ShownThreads &threads,
                                      CallSites &sites);

}  // namespace gr::tool

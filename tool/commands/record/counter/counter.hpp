// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the CPU's counter of time.
// Invariant: one file per kind of CPU is built, and defines both.
// Must not know: what is timed.
#pragma once

#include <cstdint>

namespace gr::tool {

// It runs at one rate, whatever the CPU does, and is the same on all CPUs.
[[nodiscard]] bool has_steady_counter();
[[nodiscard]] std::uint64_t counter();

}  // namespace gr::tool

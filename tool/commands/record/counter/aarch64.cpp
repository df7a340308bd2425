// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counter.hpp for aarch64: the virtual count.
// Invariant: as there; the architecture demands it.
// Must not know: what is timed.
#include "commands/record/counter/counter.hpp"

namespace gr::tool {

bool has_steady_counter() { return true; }

std::uint64_t counter() {
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: staging for the fake of platform/clock.hpp: the time, which a test sets.
// Invariant: time passes only where a test says so.
// Must not know: who asks.
#pragma once

#include <cstdint>

namespace gr::fake {

void pass_time(std::uint64_t nanoseconds);

}  // namespace gr::fake

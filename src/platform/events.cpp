// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the counters of events.hpp.
// Invariant: zero at the start.
// Must not know: who counts.
#include "platform/events.hpp"

namespace gr::platform {

extern "C" {
[[gnu::used]] std::atomic<std::uint64_t> gr_events[kCounted ? static_cast<unsigned>(Event::count) : 1];
}

}  // namespace gr::platform

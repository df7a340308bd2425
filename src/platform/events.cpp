// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/events.hpp"

namespace gr::platform {

extern "C" {
[[gnu::used]] std::atomic<std::uint64_t> gr_events[kCounted ? static_cast<unsigned>(Event::count) : 1];
}

}  // namespace gr::platform

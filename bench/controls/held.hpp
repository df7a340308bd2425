// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many bytes the measured allocator holds, where it can be asked.
// Invariant: only the allocator that serves malloc is asked, in its own words.
// Must not know: what was requested.
#pragma once

#include <cstddef>

namespace gr::bench {

struct Asked {
    const char *what;  // that it was asked for
    std::size_t (*bytes)();
};

// `serving`: a function of the allocator. {nullptr, nullptr}: it cannot be asked.
Asked who_tells_what_is_held(void *serving);

}  // namespace gr::bench

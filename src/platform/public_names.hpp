// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: under which names programs call this library: libc's, or those that begin with gr_ (libgranary-prefixed).
// Invariant: decided when the library is linked; both are made of the same object.
// Must not know: which names there are.
#pragma once

extern "C" {
// Only libgranary-prefixed defines it.
[[gnu::weak, gnu::visibility("hidden")]] extern const char gr_prefix;
}

namespace gr::platform {

inline bool is_prefixed() { return &gr_prefix != nullptr; }

}  // namespace gr::platform

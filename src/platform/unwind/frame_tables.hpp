// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: rules for frames, from the tables that compilers write for exceptions (.eh_frame).
// Invariant: takes no memory and no lock, not even the one of dlopen; reads only tables of libraries that are loaded.
// Must not know: why frames are walked.
#pragma once

#include "platform/unwind/frame_rule.hpp"

namespace gr::platform {

// `code` is the address behind a call.
[[gnu::cold]] FrameRule find_frame_rule(std::uintptr_t code);

}  // namespace gr::platform

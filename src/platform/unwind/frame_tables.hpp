// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: rules for frames, from the tables that compilers write for exceptions (.eh_frame).
// Invariant: takes no memory and no lock, and never dlopen's; reads only tables of libraries that are loaded.
// Must not know: why frames are walked.
#pragma once

#include "platform/unwind/frame_rule.hpp"

namespace gr::platform {

// For code that called: the address behind its call.
[[gnu::cold]] FrameRule find_frame_rule(std::uintptr_t code);

}  // namespace gr::platform

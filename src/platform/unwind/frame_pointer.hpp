// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: gets from a frame to its caller's where no table describes the code: code that a program makes while it runs.
// Invariant: reads only what the kernel calls readable. A step leads behind a call, or from code that a program made to such
//    code.
// Must not know: why frames are walked.
#pragma once

#include "platform/unwind/frame_rule.hpp"

namespace gr::platform {

// Goes to the caller's frame, if the frame pointer is one. false: it is not.
[[gnu::cold]] bool step_by_frame_pointer(Frame *frame);

}  // namespace gr::platform

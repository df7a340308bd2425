// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one frame of a stack: the registers that a walk needs to get to its caller's frame.
// Invariant: a frame from here() is valid until the function that asked for it returns.
// Must not know: how a walk gets from one frame to the next.
#pragma once

#include <cstdint>

namespace gr::platform {

struct Frame {
    std::uintptr_t code;           // where the frame goes on
    std::uintptr_t stack;          // its stack pointer there
    std::uintptr_t frame_pointer;  // the register that may hold a frame pointer

    bool operator==(const Frame &) const = default;
};

// Of the function into which this is inlined.
[[gnu::always_inline]] inline Frame here() {
    Frame frame{};
#if defined(__x86_64__)
    asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                 : "=&r"(frame.code), "=&r"(frame.stack), "=&r"(frame.frame_pointer));
#else
    asm volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"
                 : "=&r"(frame.code), "=&r"(frame.stack), "=&r"(frame.frame_pointer));
#endif
    ++frame.code;  // as if it were behind a call
    return frame;
}

}  // namespace gr::platform

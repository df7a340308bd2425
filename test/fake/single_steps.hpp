// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: runs code so that a signal handler is called after each of its instructions.
// Invariant: SIGTRAP's action is as before at the end, and no instruction is left out.
// Must not know: what the code and the handler do.
#pragma once

#include <signal.h>

#include <cstdint>

namespace gr::fake {

#if defined(__x86_64__)

inline constexpr bool kHasTrapFlag = true;

inline void set_trap_flag(bool on) {
    asm volatile(
        "lea -128(%%rsp), %%rsp\n"  // the red zone
        "pushfq\n"
        "andq $~0x100, (%%rsp)\n"
        "orq %0, (%%rsp)\n"
        "popfq\n"
        "lea 128(%%rsp), %%rsp\n"
        :
        : "r"(on ? std::uintptr_t{0x100} : std::uintptr_t{0})
        : "memory", "cc");
}

#else

// Only x86 lets a program ask for a trap after each instruction.
inline constexpr bool kHasTrapFlag = false;

inline void set_trap_flag(bool) {}

#endif

// The code's own frames lie between the caller's and the handler's.
template <class Code>
void run_by_steps(void (*after_instruction)(int, siginfo_t *, void *), Code code) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_sigaction = after_instruction;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before);
    set_trap_flag(true);
    code();
    set_trap_flag(false);
    sigaction(SIGTRAP, &before, nullptr);
}

}  // namespace gr::fake

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: who the calling thread is, and how it waits a moment.
// Invariant: the identity needs no thread-local storage of our own, no call, and survives fork in the child.
// Must not know: locks and heaps.
#pragma once

#include <sched.h>
#include <sys/syscall.h>

#include <cstdint>

#include "platform/syscall.hpp"

namespace gr::platform {

inline std::uintptr_t thread_pointer() {
    std::uintptr_t pointer;
#if defined(__x86_64__)
    asm("mov %%fs:0, %0" : "=r"(pointer));
#else
    asm("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
    return pointer;
}

// Never zero, its lowest bit clear: a lock word's holder. Thread control blocks are aligned to 64 bytes or more.
inline std::uint32_t thread_tag() {
    const std::uint32_t tag = static_cast<std::uint32_t>(thread_pointer() >> 5) & ~std::uint32_t{1};
    return tag == 0 ? 2 : tag;
}

inline void pause() {
#if defined(__x86_64__)
    asm volatile("pause");
#else
    asm volatile("isb");
#endif
}

inline void yield() { system_call(SYS_sched_yield); }

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the number of the calling thread, and how the thread waits a moment.
// Invariant: no two living threads have the same number; fork's child keeps its number.
// Must not know: locks and heaps.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
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

inline thread_local constinit std::uint32_t number_of_caller = 0;  // none yet
inline constinit std::atomic<std::uint32_t> threads_numbered{0};   // ordered by nothing

// A signal handler that interrupts this may get another number first. By its end it has released all that it took by
// that number.
inline void number_caller() {
    constexpr std::uint32_t kMost = UINT32_MAX >> 1;  // so that it fits a tag
    do number_of_caller = (threads_numbered.fetch_add(1, std::memory_order_relaxed) + 1) & kMost;
    while (number_of_caller == 0);
}

// Numbers are given in the order in which threads first ask; never zero.
inline std::uint32_t thread_number() {
    if (number_of_caller == 0) [[unlikely]]
        number_caller();
    return number_of_caller;
}

// The holder's mark in a lock word: never zero, and its lowest bit is clear.
inline std::uint32_t thread_tag() { return thread_number() << 1; }

inline void pause() {
#if defined(__x86_64__)
    asm volatile("pause");
#else
    asm volatile("isb");
#endif
}

// Whether the thread runs on a stack that the kernel knows as its stack for signals.
inline bool is_on_stack_for_signals() {
    stack_t current{};
    return system_call(SYS_sigaltstack, nullptr, &current) == 0 && (current.ss_flags & SS_ONSTACK) != 0;
}

inline void yield() { system_call(SYS_sched_yield); }

}  // namespace gr::platform

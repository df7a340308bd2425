// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: raw system calls, so that nothing here touches errno, needs a relocated library or can be interposed.
// Invariant: the result is the kernel's: negative means -errno.
// Must not know: which calls exist (memory, process and mutex do).
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/events.hpp"

namespace gr::platform {

inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register long x5 asm("x5") = f;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "Granary runs on x86-64 and aarch64"
#endif
}

inline long as_argument(long value) { return value; }
inline long as_argument(int value) { return value; }
inline long as_argument(unsigned value) { return static_cast<long>(value); }
inline long as_argument(std::size_t value) { return static_cast<long>(value); }
inline long as_argument(const volatile void *p) { return static_cast<long>(reinterpret_cast<std::uintptr_t>(p)); }

template <class... Arguments>
long system_call(long number, Arguments... arguments) {
    static_assert(sizeof...(arguments) <= 6, "the kernel takes six arguments at most");
    count(Event::system_call);
    const long a[7] = {as_argument(arguments)..., 0};
    return raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace gr::platform

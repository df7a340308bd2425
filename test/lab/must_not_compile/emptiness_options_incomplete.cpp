// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: superblocks are found by an address's lower bits, so S is a power of two (parts/hoard/emptiness_heaps.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/hoard/emptiness_heaps.hpp"

using namespace gr::lab;

template <bool kIsPowerOfTwo>
struct Options {
    static constexpr std::array<Option, 5> kTable{{
        {.name = "f", .parts = 8, .value = 2, .least = 1, .most = 7, .told = ""},
        {.name = "K", .parts = 1, .value = 4, .least = 0, .most = 64, .told = ""},
        {.name = "S",
         .parts = 1,
         .value = 8192,
         .least = 8192,
         .most = 8192,
         .told = "",
         .is_power_of_two = kIsPowerOfTwo},
        {.name = "b", .parts = 100, .value = 120, .least = 120, .most = 120, .told = ""},
        {.name = "e", .parts = 1, .value = 1, .least = 0, .most = 1, .told = ""},
    }};
};

#ifdef CONTROL
EmptinessHeaps<ByThreadHash, 2, Options<true>> heaps;
#else
EmptinessHeaps<ByThreadHash, 2, Options<false>> heaps;
#endif

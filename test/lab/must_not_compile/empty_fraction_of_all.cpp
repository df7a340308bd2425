// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an empty fraction of all there is would let a heap keep everything (parts/hoard/emptiness_heaps.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: f must be above 0 and below 1
#include "parts/hoard/emptiness_heaps.hpp"

using namespace gr::lab;

template <std::uint64_t kMostOfF>
struct Options {
    static constexpr std::array<Option, 5> kTable{{
        {.name = "f", .parts = 8, .value = 2, .least = 1, .most = kMostOfF, .told = ""},
        {.name = "K", .parts = 1, .value = 4, .least = 0, .most = 64, .told = ""},
        {.name = "S", .parts = 1, .value = 8192, .least = 8192, .most = 8192, .told = "", .is_power_of_two = true},
        {.name = "b", .parts = 100, .value = 120, .least = 120, .most = 120, .told = ""},
        {.name = "e", .parts = 1, .value = 1, .least = 0, .most = 1, .told = ""},
    }};
};

#ifdef CONTROL
EmptinessHeaps<ByThreadHash, 2, Options<7>> heaps;
#else
EmptinessHeaps<ByThreadHash, 2, Options<8>> heaps;
#endif

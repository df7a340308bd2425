// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the smallest region is a power of two (parts/arenas.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/arena.hpp"
#include "parts/arenas.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(Arenas<Arena<Quartiles>, RoundRobin, 2>::kPerCpu == 4);
#else
static_assert(Arenas<Arena<Quartiles>, RoundRobin, 12>::kPerCpu == 4);
#endif

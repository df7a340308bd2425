// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the smallest region is a power of two (parts/jemalloc/arenas.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/jemalloc/arena.hpp"
#include "parts/jemalloc/arenas.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(Arenas<Arena<Quartiles>, RoundRobin, 2>::kPerCpu == 4);
#else
static_assert(Arenas<Arena<Quartiles>, RoundRobin, 12>::kPerCpu == 4);
#endif

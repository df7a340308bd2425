// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a choice of arenas says which arena is next (parts/jemalloc/arenas.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/contract/allocator.hpp"
#include "parts/jemalloc/arena.hpp"
#include "parts/jemalloc/arenas.hpp"

using namespace gr::lab;

#ifdef CONTROL
Arenas<Arena<Quartiles>, RoundRobin, kAlignment> *arenas;
#else
struct None {};
Arenas<Arena<Quartiles>, None, kAlignment> *arenas;
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: states of runs say which is looked in first (parts/jemalloc/run_states.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/jemalloc/arena.hpp"

using namespace gr::lab;

#ifdef CONTROL
using States = Quartiles;
Arena<States> *arena;
#else
struct States {
    static RunState after(RunState state, std::uint32_t, std::uint32_t) { return state; }
    static bool is_destroyed_empty(RunState) { return true; }
};
Arena<States> *arena;
#endif

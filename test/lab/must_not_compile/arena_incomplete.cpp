// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an arena gives back a chunk that it keeps (parts/jemalloc/arenas.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/contract/allocator.hpp"
#include "parts/jemalloc/arena.hpp"
#include "parts/jemalloc/arenas.hpp"

using namespace gr::lab;

struct Part {
    explicit Part(const RunLayout *layout);
    void lock();
    void unlock();
};

#ifdef CONTROL
Arenas<Arena<Quartiles>, RoundRobin, kAlignment> *arenas;
#else
Arenas<Part, RoundRobin, kAlignment> *arenas;
#endif

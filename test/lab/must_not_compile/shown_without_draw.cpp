// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator that is shown tells what it holds (show/recorded.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "show/recorded.hpp"

using namespace gr::lab;

struct Silent {
    void *allocate(std::size_t);
    void *allocate_aligned(std::size_t, std::size_t);
    void free(void *);
    std::size_t usable_size(const void *);
    std::size_t zeroed_above() const;
    void thread_ends();
    void lock();
    void unlock();
};
struct Telling : Silent {
    void draw(show::Picture &) const;
};
#ifdef CONTROL
static_assert(show::CanBeShown<Telling>);
#else
static_assert(show::CanBeShown<Silent>);
#endif

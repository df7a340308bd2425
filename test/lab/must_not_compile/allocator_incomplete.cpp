// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a face asks of an allocator is all there (parts/contract/allocator.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/contract/allocator.hpp"

using namespace gr::lab;

#ifdef CONTROL
struct Whole {
    void *allocate(std::size_t);
    void *allocate_aligned(std::size_t, std::size_t);
    void free(void *);
    std::size_t usable_size(const void *);
    std::size_t zeroed_above() const;
    void thread_ends();
    void lock();
    void unlock();
};
static_assert(Allocator<Whole>);
#else
struct Part {
    void *allocate(std::size_t);
    void free(void *);
};
static_assert(Allocator<Part>);
#endif

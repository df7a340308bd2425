// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a store takes, puts and grows (parts/stores/block_store.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/stores/free_list_store.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(BlockStore<FreeListStore<TaggedObjects<true>, thread_heaps + ownership>>);
#else
struct NoGrowth {
    struct Global {
        void lock();
        void unlock();
    };
    void *take(std::size_t);
    void put(void *, Global &);
};
static_assert(BlockStore<NoGrowth>);
#endif

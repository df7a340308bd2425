// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: local heaps can install a superblock and say what is online (parts/lfmalloc/local_heaps.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraint
#include "parts/lfmalloc/online_superblocks.hpp"

using namespace gr::lab;

struct Part {
    bool start();
    void *pop(unsigned bin);
    bool push(LocalList *list, void *block);
    void lock();
    void unlock();
};

#ifdef CONTROL
OnlineSuperblocks<LockedHeaps<ByCpu>> heaps;
#else
OnlineSuperblocks<Part> heaps;
#endif

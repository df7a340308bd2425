// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a lock of the lab can be tried (parts/lists/lock.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/lists/lock.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LockLike<NoLock>);
#else
struct Gate {
    void lock();
    void unlock();
};
static_assert(LockLike<Gate>);
#endif

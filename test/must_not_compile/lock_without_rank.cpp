// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every acquisition names the rank of the lock, so that the order can be checked.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: no matching function for call|too few arguments
#include "platform/mutex.hpp"

#ifdef CONTROL
bool take(gr::platform::Mutex &mutex) { return mutex.try_lock(gr::platform::Rank::heap); }
#else
bool take(gr::platform::Mutex &mutex) { return mutex.try_lock(); }
#endif

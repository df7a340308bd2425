// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: lock() may fail, when a handler interrupted the holder; the caller must look at the result.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: ignoring return value
#include "platform/mutex.hpp"

#ifdef CONTROL
bool take(gr::platform::Mutex &mutex) { return mutex.lock(gr::platform::Rank::heap); }
#else
void take(gr::platform::Mutex &mutex) { mutex.lock(gr::platform::Rank::heap); }
#endif

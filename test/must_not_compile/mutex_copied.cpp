// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a lock is not copied: a copy of a held one would never be released.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: use of deleted function|call to deleted constructor
#include "platform/mutex.hpp"

#ifdef CONTROL
gr::platform::Mutex &share(gr::platform::Mutex &mutex) { return mutex; }
#else
gr::platform::Mutex copy(gr::platform::Mutex &mutex) { return mutex; }
#endif

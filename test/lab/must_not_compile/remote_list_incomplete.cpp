// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a remote list can be pushed to, cleared and locked (parts/lists/remote_list.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/lists/remote_list.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(RemoteListLike<LockFreeRemoteList>);
#else
static_assert(RemoteListLike<FreeList>);
#endif

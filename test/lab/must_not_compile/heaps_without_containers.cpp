// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps whose blocks do not lead to a container cannot stand behind one (parts/contained.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraint
#include "parts/contained.hpp"
#include "parts/online_superblocks.hpp"

using namespace gr::lab;

#ifdef CONTROL
Contained<OnlineSuperblocks<LockedHeaps<ByCpu>, 1>> allocator;
#else
Contained<LockedHeaps<ByCpu>> allocator;
#endif

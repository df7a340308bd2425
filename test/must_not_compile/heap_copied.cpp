// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a first-class heap is not copied: its blocks would be destroyed twice.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: use of deleted function|call to deleted constructor
#include <granary/heap.hpp>

#ifdef CONTROL
granary::heap &share(granary::heap &heap) { return heap; }
#else
granary::heap copy(granary::heap &heap) { return heap; }
#endif

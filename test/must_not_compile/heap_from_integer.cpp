// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a number of bytes is no heap: it does not become one, nor a resource for a container, by itself.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: invalid initialization of reference|no matching function
#include <granary/heap.hpp>

std::size_t reserve_of(const granary::heap &);

#ifdef CONTROL
std::size_t use() { return reserve_of(granary::heap(4096)); }
#else
std::size_t use() { return reserve_of(4096); }
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks in use need an owner, which a heap that ends is no more (Wasik 5.5).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: destroyed_heaps needs owners that can change
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + containers + ownership + destroyed_heaps>::kIs);
#else
static_assert(LegalSum<thread_heaps + containers + ownership + restricted_movement + destroyed_heaps>::kIs);
#endif

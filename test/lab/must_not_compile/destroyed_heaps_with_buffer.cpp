// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what lies in a buffer does not go to the global heap with the rest of a heap.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: destroyed_heaps excludes coalescing, free_list_buffer
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + destroyed_heaps>::kIs);
#else
static_assert(LegalSum<thread_heaps + free_list_buffer + destroyed_heaps>::kIs);
#endif

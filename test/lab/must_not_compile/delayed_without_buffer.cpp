// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is delayed waits in a buffer (Wasik 3.1.1.1).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: delayed_ownership needs ownership and free_list_buffer
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + ownership + free_list_buffer + delayed_ownership>::kIs);
#else
static_assert(LegalSum<thread_heaps + ownership + delayed_ownership>::kIs);
#endif

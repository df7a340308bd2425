// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a remote list stands on heaps or on containers (Wasik 3.2.4.3).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: remote lists belong to containers or to heaps
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + containers + ownership + remote_lists_on_containers>::kIs);
#else
static_assert(LegalSum<thread_heaps + containers + ownership + remote_lists + remote_lists_on_containers>::kIs);
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: containers of several sizes, or with their headers apart, are built for heaps that own them.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: varied_containers and header_table need ownership
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + containers + ownership + varied_containers>::kIs);
#else
static_assert(LegalSum<thread_heaps + containers + varied_containers>::kIs);
#endif

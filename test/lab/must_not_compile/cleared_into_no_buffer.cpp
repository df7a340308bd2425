// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a remote list is not cleared into a buffer where there is none (Wasik 7.4).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: cleared_into_buffer needs free_list_buffer
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + coalescing + ownership + remote_lists>::kIs);
#else
static_assert(LegalSum<thread_heaps + coalescing + ownership + remote_lists + cleared_into_buffer>::kIs);
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap into which each thread frees its own blocks has no remote list (Wasik 3.2.1.5).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: without ownership no free is remote
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + global_remote_list>::kIs);
#else
static_assert(LegalSum<thread_heaps + remote_lists>::kIs);
#endif

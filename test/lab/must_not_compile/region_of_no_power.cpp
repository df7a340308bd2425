// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a region's begin is an address without its lower bits, so it is a power of two long.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: a region is found by dropping the lower bits of an address
#include "parts/layout/boundary_tags.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(BoundaryTags<65536>::kWholeBytes == 65520);
#else
static_assert(BoundaryTags<65520>::kWholeBytes == 65504);
#endif

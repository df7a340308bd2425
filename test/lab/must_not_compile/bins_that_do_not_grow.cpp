// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins grow by a part of themselves (parts/layout/size_bins.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: each bin must be larger than the one before
#include "parts/layout/size_bins.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(GeometricBins<1024, 12>::kCount > 1);
#else
static_assert(GeometricBins<1024, 10>::kCount > 1);
#endif

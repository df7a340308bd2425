// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: that a region was free already is looked at (parts/jemalloc/small_run.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: ignoring return value
#include "parts/jemalloc/small_run.hpp"

using namespace gr::lab;

#ifdef CONTROL
bool give_back(RegionBitmap &regions) { return regions.put(7); }
#else
void give_back(RegionBitmap &regions) { regions.put(7); }
#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the last bin of free ranges holds whole regions and nothing else, so that they are told apart.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: the last bin must hold whole regions
#include "parts/layout/free_ranges.hpp"
#include "parts/layout/range_bins.hpp"

using namespace gr::lab;
using Tags = BoundaryTags<65536>;

#ifdef CONTROL
FreeRanges<Tags, RangeBins<GeometricBins<Tags::kWholeBytes>, Fit::best>> ranges;
#else
FreeRanges<Tags, RangeBins<GeometricBins<Tags::kRegionBytes>, Fit::best>> ranges;
#endif

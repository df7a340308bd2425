// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins lead from a size to a bin and back (parts/layout/size_bins.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/layout/size_bins.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(SizeBins<GeometricBins<1024>>);
#else
struct NoWayBack {
    static constexpr unsigned kCount = 1;
    static unsigned bin_of(std::size_t);
};
static_assert(SizeBins<NoWayBack>);
#endif

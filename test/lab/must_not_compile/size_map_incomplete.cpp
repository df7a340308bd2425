// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a map leads from a size to a class and back (parts/radix_map.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/radix_map.hpp"

using namespace gr::lab;

struct Part {
    static constexpr unsigned kMostBins = 4;
    unsigned bin_of(std::size_t size) const;
};

#ifdef CONTROL
static_assert(SizeMap<RadixMap<1024, 16>>);
#else
static_assert(SizeMap<Part>);
#endif

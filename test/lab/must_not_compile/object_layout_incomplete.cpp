// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an object's size and owner can be told (parts/layout/object_layouts.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/layout/object_layouts.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(ObjectLayout<TaggedObjects<true>>);
#else
struct NoOwner {
    static unsigned bin_of(std::size_t);
};
static_assert(ObjectLayout<NoOwner>);
#endif

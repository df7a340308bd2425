// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how free blocks are found by size says how many bytes they have (parts/layout/free_ranges.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/layout/free_ranges.hpp"
#include "parts/layout/size_tree.hpp"

using namespace gr::lab;
using Tags = BoundaryTags<65536, SizeTree::Node>;

struct Uncounted {
    using Node = SizeTree::Node;
    static constexpr bool is_for(std::size_t) { return true; }
    void insert(void *block);
    void remove(void *block);
    void *find(std::size_t bytes) const;
};

#ifdef CONTROL
FreeRanges<Tags, SizeTree> ranges;
#else
FreeRanges<Tags, Uncounted> ranges;
#endif

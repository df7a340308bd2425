// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the smallest block has room for what the index writes into it (parts/layout/free_ranges.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: the smallest block must have room for a node
#include "parts/layout/free_ranges.hpp"
#include "parts/layout/size_tree.hpp"

using namespace gr::lab;

#ifdef CONTROL
FreeRanges<BoundaryTags<65536, SizeTree::Node>, SizeTree> ranges;
#else
FreeRanges<BoundaryTags<65536, ListNode>, SizeTree> ranges;
#endif

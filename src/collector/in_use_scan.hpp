// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: scans a range of roots that may lie in the only kind's region, where a block counts as a root while it is in
//    use.
// Invariant: every block that is in use and does not wait is scanned as far as it lies in the range.
// Must not know: which names programs call; why a block waits.
#pragma once

#include "collector/kinds.hpp"
#include "collector/marker.hpp"

namespace gr {

// The bits of the blocks in one word of a superblock's bitmap that are in use and do not wait.
using InUse = Word (*)(const Superblock *s, std::uint32_t word);

void scan_in_use(Marker &marker, const Kind &kind, InUse in_use, platform::Range range);

}  // namespace gr

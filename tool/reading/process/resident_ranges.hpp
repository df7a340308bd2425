// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much is resident of pieces of anonymous memory, whatever the kernel has made one mapping of.
// Invariant: each byte counts for one piece, and for the mapping that it lies in.
// Must not know: what the pieces are for.
#pragma once

#include <vector>

#include "reading/process/process_memory.hpp"

namespace gr::tool {

struct ByteRange {
    std::uint64_t begin;
    std::uint64_t end;
};

// Of all of them together; of each mapping what they have in it is added to `accounted`. They do not overlap.
[[nodiscard]] double take_resident(const ProcessMemory &memory, const std::vector<Mapping> &mappings,
                                   std::vector<ByteRange> ranges, std::vector<double> *accounted);

}  // namespace gr::tool

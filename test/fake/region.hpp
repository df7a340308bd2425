// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: regions for tests, with the tables that the parts above need.
// Invariant: like the global instance's, a region is never unreserved but by a test of just that: the others leak
//    address space, and no memory that they do not use.
// Must not know: what is tested.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fake/memory.hpp"
#include "region/page_heap.hpp"
#include "region/region.hpp"
#include "superblock/superblocks.hpp"

namespace gr::fake {

inline TableSizes table_sizes(std::size_t fixed_bytes = 0, std::size_t readable_bytes = kUnitBytes) {
    TableSizes sizes;
    sizes.readable_bytes = readable_bytes;
    sizes.fixed_bytes = fixed_bytes + PageHeap::kFixedBytes;
    std::ranges::copy(PageHeap::kBytesPerChunk, sizes.bytes_per_chunk.begin());
    std::ranges::copy(Superblocks::kBytesPerChunk, sizes.bytes_per_chunk.begin() + kPageHeapTables);
    return sizes;
}

inline bool reserve(Region &region, std::uint32_t chunks, const TableSizes &sizes = table_sizes()) {
    return region.reserve(chunks * kChunkBytes, sizes);
}

// One that is mapped as it grows, as the global instance's is where there are addresses enough.
inline bool open(Region &region, std::uint32_t chunks, const TableSizes &sizes = table_sizes()) {
    return region.open(chunks * kChunkBytes, sizes);
}

// A scarce one, under a limit at which a hole of any length pays.
inline bool spread(Region &region, std::uint32_t chunks, const TableSizes &sizes = table_sizes(),
                   std::size_t address_limit = kGiB) {
    return region.spread(chunks * kChunkBytes, sizes, address_limit);
}

}  // namespace gr::fake

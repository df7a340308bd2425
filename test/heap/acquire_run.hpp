// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: acquires a run and finds its descriptor.
// Invariant: none.
// Must not know: what the run is for.
#pragma once

#include "heap/unit_store.hpp"

namespace gr::fake {

inline Superblock *acquire_run(UnitStore &store, const Superblocks &superblocks, std::uint32_t units,
                               std::uint32_t alignment = 1, bool *zeroed = nullptr) {
    bool found_zeroed = false;
    const void *const block = store.acquire_run(UnitCount(units), UnitCount(alignment), CpuGroup(0), SIZE_MAX,
                                                zeroed == nullptr ? &found_zeroed : zeroed);
    return block == nullptr ? nullptr : superblocks.find(block).superblock;
}

}  // namespace gr::fake

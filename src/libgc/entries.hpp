// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what GC_malloc, GC_malloc_atomic and GC_free, which are in assembly, read of the collector.
// Invariant: before publish_entries(), and without sequences for ever, every call takes the slow path.
// Must not know: what the slow paths do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "platform/rseq/sequences.hpp"

namespace gr {

// At offsets that the assembly knows.
struct alignas(kCacheLineBytes) EntryState {
    std::uint64_t size_limit = 0;                 // requests below it are allocated by sequence
    std::uintptr_t base = kBeyondAll;             // of the kinds' range
    std::uint64_t slot_shift = 0;                 // an offset from there, shifted, is the number of a kind
    const platform::SlabsPlace *found = nullptr;  // of each kind
    std::uint64_t *freed = nullptr;               // words of the counter of what was freed

    // No address is so little behind it that it would be in a kind.
    static constexpr std::uintptr_t kBeyondAll = std::uintptr_t{1} << 63;
};

extern "C" EntryState gr_gc_entry_state;

// Once the kinds and the counter are there.
void publish_entries();

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what GC_free and the functions that allocate from the standard kinds, which are in assembly, read of the
//    collector.
// Invariant: before publish_entries(), and without sequences for ever, every call takes the slow path.
// Must not know: what the slow paths do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/size_class.hpp"
#include "platform/rseq/sequences.hpp"

namespace gr {

// At offsets that the assembly knows.
struct alignas(kCacheLineBytes) EntryState {
    std::uint64_t fine_limit = 0;                 // requests below it, and a byte more, are in classes of fine steps
    std::uint64_t size_limit = 0;                 // requests below it are allocated by sequence
    std::uintptr_t base = kBeyondAll;             // of the kinds' range
    std::uint64_t slot_shift = 0;                 // an offset from there, shifted, is the number of a kind
    const platform::SlabsPlace *found = nullptr;  // of each kind
    std::uint64_t *freed = nullptr;               // words of the counter of what was freed
    std::array<std::uint32_t, kClassCount> class_bytes = bytes_of_classes();

    // No address is so little behind it that it would be in a kind.
    static constexpr std::uintptr_t kBeyondAll = std::uintptr_t{1} << 63;

    static constexpr std::array<std::uint32_t, kClassCount> bytes_of_classes() {
        std::array<std::uint32_t, kClassCount> bytes{};
        for (std::uint32_t c = 0; c < kClassCount; ++c) bytes[c] = shape_of(ClassIndex(c)).size;
        return bytes;
    }
};

extern "C" EntryState gr_gc_entry_state;

// Once the kinds and the counter are there.
void publish_entries();

}  // namespace gr

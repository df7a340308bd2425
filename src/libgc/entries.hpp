// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the values that GC_free and the functions that allocate from the standard kinds, which are written in assembly,
//    read of the collector.
// Invariant: every call takes the slow path before publish_entries(), and always where restartable sequences are missing.
// Must not know: what the slow paths do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/size_class.hpp"
#include "platform/rseq/sequences.hpp"

namespace gr {

// The assembly knows the offsets of these members.
struct alignas(kCacheLineBytes) EntryState {
    std::uint64_t fine_limit = 0;                 // smaller requests, with the added byte, are in classes of fine steps
    std::uint64_t size_limit = 0;                 // smaller requests are allocated by a sequence
    std::uintptr_t base = kBeyondAll;             // of the kinds' range
    std::uint64_t slot_shift = 0;                 // an offset from the base, shifted right, is the number of a kind
    const platform::SlabsPlace *found = nullptr;  // of each kind
    std::uint64_t *freed = nullptr;               // the words of the counter of freed bytes
    std::array<std::uint32_t, kClassCount> class_bytes = bytes_of_classes();

    // No address lies behind this one as closely as a kind would.
    static constexpr std::uintptr_t kBeyondAll = std::uintptr_t{1} << 63;

    static constexpr std::array<std::uint32_t, kClassCount> bytes_of_classes() {
        std::array<std::uint32_t, kClassCount> bytes{};
        for (std::uint32_t c = 0; c < kClassCount; ++c) bytes[c] = shape_of(ClassIndex(c)).size;
        return bytes;
    }
};

extern "C" EntryState gr_gc_entry_state;

// Called once the kinds and the counter exist.
void publish_entries();

}  // namespace gr

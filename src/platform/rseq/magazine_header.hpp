// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the layout of a slab that the sequences and their reference share: headers, sentinel words, slots.
// Invariant: an all-zero header is empty, full and uninitialised at once; the word before a magazine's first slot is 0.
// Must not know: size classes and heaps; a magazine is a header's byte offset in a slab.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"

namespace gr::platform {

// Eight bytes, always read and published as one. Slot i of a magazine lies kSlotDisplacement + 8 * i bytes behind its
// header, so `current`, the index of the next free slot, is an index from the header. A magazine is
//   in use:    begin <= current, and current <= limit but for a moment after limit was lowered;
//   detached:  limit = current < begin, and its slots from current to begin hold blocks that no sequence reaches.
// `current` has 32 bits, for what malloc stores there is what free loads next: a processor may hand 32 bits over by
// renaming, 16 only through its store buffer (docs/results/results.md).
struct MagazineHeader {
    std::uint32_t current = 0;
    std::uint16_t limit = 0;
    std::uint16_t begin = 0;

    // Blocks that sequences reach, and how many there may be.
    constexpr std::uint32_t held() const { return is_detached() ? 0 : current - begin; }
    constexpr std::uint32_t capacity() const { return is_detached() ? 0 : limit - std::uint32_t{begin}; }
    constexpr bool is_detached() const { return current < begin; }
};
static_assert(sizeof(MagazineHeader) == 8);

inline constexpr unsigned kSlabShift = 17;
static_assert(std::size_t{1} << kSlabShift == kSlabBytes);

// [0, kSlotDisplacement) headers, then as many bytes that are zero for ever (what an all-zero header's pop reads), then
// slots.
inline constexpr std::size_t kSlotDisplacement = 1024;
inline constexpr unsigned kHeaderCount = kSlotDisplacement / sizeof(MagazineHeader);
inline constexpr unsigned kRemoteHeader = kHeaderCount - 2;  // the last one's sentinel would be class 0's
inline constexpr std::size_t kSlotsOffset = 2 * kSlotDisplacement;

// Of PerCpuCounter, for each CPU.
inline constexpr std::size_t kCounterBytes = 64;
static_assert(kCounterBytes == kCacheLineBytes);

constexpr std::uint32_t header_offset(std::uint32_t index) {
    return index * static_cast<std::uint32_t>(sizeof(MagazineHeader));
}

constexpr std::uint64_t as_word(MagazineHeader header) { return std::bit_cast<std::uint64_t>(header); }
constexpr MagazineHeader as_header(std::uint64_t word) { return std::bit_cast<MagazineHeader>(word); }

}  // namespace gr::platform

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

// Eight bytes, which C++ reads and replaces as one word; the sequences that move blocks store only `current`. Slot i of
// a magazine lies kSlotDisplacement + 8 * i bytes behind its header. So `current`, the index of the next free slot, is
// an index from the header. A magazine is
//   in use:    begin <= current, and current <= limit, except for a moment after limit was lowered;
//   detached:  limit = current < begin, and its slots from current to begin hold blocks that no sequence reaches.
// `current` has 32 bits because free loads what malloc has just stored. A processor may pass 32 bits on by renaming,
// but 16 bits only through its store buffer (docs/results/results.md).
struct MagazineHeader {
    std::uint32_t current = 0;
    std::uint16_t limit = 0;
    std::uint16_t begin = 0;

    // How many blocks sequences reach, and how many there may be.
    constexpr std::uint32_t held() const { return is_detached() ? 0 : current - begin; }
    constexpr std::uint32_t capacity() const { return is_detached() ? 0 : limit - std::uint32_t{begin}; }
    constexpr bool is_detached() const { return current < begin; }
};
static_assert(sizeof(MagazineHeader) == 8, "a header is replaced as one word");

inline constexpr unsigned kSlabShift = 17;
static_assert(std::size_t{1} << kSlabShift == kSlabBytes, "a shift finds the slab of a concurrency id");

// A slab has headers in [0, kSlotDisplacement), then as many bytes that always stay zero (the pop of an all-zero header
// reads them), then slots.
inline constexpr std::size_t kSlotDisplacement = 1024;
inline constexpr unsigned kHeaderCount = kSlotDisplacement / sizeof(MagazineHeader);
inline constexpr unsigned kRemoteHeader = kHeaderCount - 2;  // the last header's sentinel would be class 0's
inline constexpr std::size_t kSlotsOffset = 2 * kSlotDisplacement;

// The bytes of PerCpuCounter for each CPU.
inline constexpr std::size_t kCounterBytes = 64;
static_assert(kCounterBytes == kCacheLineBytes, "the counters of two CPUs share no cache line");

constexpr std::uint32_t header_offset(std::uint32_t index) {
    return index * static_cast<std::uint32_t>(sizeof(MagazineHeader));
}

constexpr std::uint64_t as_word(MagazineHeader header) { return std::bit_cast<std::uint64_t>(header); }
constexpr MagazineHeader as_header(std::uint64_t word) { return std::bit_cast<MagazineHeader>(word); }

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the size classes: from a size to its class and back, and the shape of each class's superblocks.
// Invariant: size_of(class_of(n)) >= n, waste at most 12.5 % above 128 bytes; block_at inverts block * size exactly for
//    every offset in a superblock.
// Must not know: heaps, memory, the operating system.
#pragma once

#include <array>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

inline constexpr unsigned kFineClasses = kFineLimit / kFineStep;
inline constexpr unsigned kFineLimitLog = std::bit_width(kFineLimit) - 1;
inline constexpr unsigned kCoarseLog = std::bit_width(kCoarsePerDoubling) - 1;
inline constexpr unsigned kDoublings = std::bit_width(kClassLimit / kFineLimit) - 1;
inline constexpr unsigned kClassCount = 1 + kFineClasses + kDoublings * kCoarsePerDoubling;  // class 0 is no class

// size <= kClassLimit. A request for 0 bytes gets the smallest block, so that its address is unique.
constexpr ClassIndex class_of(std::size_t size) {
    if (size <= kFineLimit)
        return ClassIndex(static_cast<std::uint32_t>((size + kFineStep - 1 + (size == 0)) / kFineStep));
    const std::size_t last = size - 1;
    const unsigned doubling = static_cast<unsigned>(std::bit_width(last)) - 1;
    const std::size_t step = (last >> (doubling - kCoarseLog)) & (kCoarsePerDoubling - 1);
    return ClassIndex(
        static_cast<std::uint32_t>(kFineClasses + (doubling - kFineLimitLog) * kCoarsePerDoubling + step + 1));
}

constexpr std::size_t size_of_class(ClassIndex c) {
    if (c.value <= kFineClasses) return c.value * kFineStep;
    const unsigned coarse = c.value - kFineClasses - 1;
    const unsigned doubling = kFineLimitLog + coarse / kCoarsePerDoubling;
    return std::size_t{kCoarsePerDoubling + coarse % kCoarsePerDoubling + 1} << (doubling - kCoarseLog);
}

struct ClassShape {
    std::uint32_t size = 0;            // bytes
    std::uint32_t blocks = 0;          // per superblock
    std::uint32_t units = 0;           // per superblock
    std::uint32_t words = 0;           // of one bitmap
    std::uint64_t reciprocal = 0;      // ceil(2^kReciprocalShift / size)
    std::uint32_t magazine_slots = 0;  // the largest capacity
    // The first slot of the magazine, counted in the slots of a slab. The slot before is the sentinel. Narrow magazines
    // lie beside each other: most never need to be wider, and a page for each would cost small programs memory.
    std::uint32_t narrow_begin = 0;
    std::uint32_t wide_begin = 0;

    constexpr std::uint32_t slots_begin(std::uint32_t capacity) const {
        return capacity <= kMagazineNarrowSlots ? narrow_begin : wide_begin;
    }
    constexpr std::size_t bytes() const { return std::size_t{units} * kUnitBytes; }
    constexpr std::size_t bytes_of_blocks() const { return std::size_t{blocks} * size; }
    constexpr BlockIndex block_at(std::size_t offset) const {
        return BlockIndex(static_cast<std::uint32_t>((offset * reciprocal) >> kReciprocalShift));
    }
    // Whether the offset is a multiple of the size. If so, the fraction of offset / size, which is the low part of the
    // product, is less than the reciprocal.
    constexpr bool divides(std::size_t offset) const {
        const std::uint64_t high = reciprocal << (kWordBits - kReciprocalShift);
        return offset * high < high;
    }
    static constexpr unsigned kReciprocalShift = 40;
};

namespace detail {

constexpr unsigned units_for(std::size_t size) {
    for (unsigned units = 1; units < kMaxSuperblockUnits; ++units) {
        const std::size_t bytes = units * kUnitBytes;
        if ((bytes % size) * kTailWasteParts <= bytes) return units;
    }
    return kMaxSuperblockUnits;
}

constexpr std::uint32_t magazine_slots_for(std::size_t size) {
    const std::size_t fit = std::bit_floor(kMagazineClassBytes / size);
    if (fit < kMagazineMinSlots) return kMagazineMinSlots;
    return static_cast<std::uint32_t>(fit < kMagazineMaxSlots ? fit : kMagazineMaxSlots);
}

constexpr std::array<ClassShape, kClassCount> make_shapes() {
    std::array<ClassShape, kClassCount> shapes{};
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        ClassShape &s = shapes[c];
        s.size = static_cast<std::uint32_t>(size_of_class(ClassIndex(c)));
        s.units = units_for(s.size);
        s.blocks = static_cast<std::uint32_t>(s.units * kUnitBytes / s.size);
        s.words = static_cast<std::uint32_t>(divide_up(s.blocks, kWordBits));
        s.reciprocal = ((std::uint64_t{1} << ClassShape::kReciprocalShift) + s.size - 1) / s.size;
        s.magazine_slots = magazine_slots_for(s.size);
    }
    std::uint32_t slot = 0;
    const auto place = [&slot](std::uint32_t slots) {
        const std::uint32_t begin = slot + 1;
        slot = begin + slots;
        return begin;
    };
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const std::uint32_t most = shapes[c].magazine_slots;
        shapes[c].narrow_begin = place(most < kMagazineNarrowSlots ? most : kMagazineNarrowSlots);
    }
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const std::uint32_t most = shapes[c].magazine_slots;
        if (most > kMagazineNarrowSlots) shapes[c].wide_begin = place(most);
    }
    return shapes;
}

}  // namespace detail

inline constexpr std::array<ClassShape, kClassCount> kShapes = detail::make_shapes();
inline constexpr std::uint32_t kMaxBlocks = kShapes[1].blocks;
inline constexpr std::uint32_t kMagazineSlotsTotal = [] {
    std::uint32_t end = 0;
    for (const ClassShape &s : kShapes) {
        const std::uint32_t its_end = s.slots_begin(s.magazine_slots) + s.magazine_slots;
        if (its_end > end) end = its_end;
    }
    return end;
}();

constexpr const ClassShape &shape_of(ClassIndex c) { return kShapes[c.value]; }

// The smallest class whose blocks all lie at multiples of `alignment` (a power of two up to kUnitBytes), or 0.
// Superblocks start at multiples of a unit, so a block size that is a multiple of the alignment suffices.
constexpr ClassIndex class_of_aligned(std::size_t size, std::size_t alignment) {
    if (size > kClassLimit || alignment > kClassLimit) return ClassIndex(0);
    if (alignment <= kFineStep) return class_of(size);
    for (ClassIndex c = class_of(align_up(size == 0 ? 1 : size, alignment)); c.value < kClassCount; ++c) {
        if ((size_of_class(c) & (alignment - 1)) == 0) return c;
    }
    return ClassIndex(0);
}

static_assert(class_of(kClassLimit).value == kClassCount - 1, "the last class is the largest");
static_assert(size_of_class(ClassIndex(kClassCount - 1)) == kClassLimit, "the last class ends at the limit of classes");
static_assert(class_of(0).value == 1 && class_of(1).value == 1 && class_of(kFineLimit + 1).value == kFineClasses + 1,
              "0 bytes are served as 1, and coarse classes follow the fine ones");

}  // namespace gr

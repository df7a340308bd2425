// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marks.hpp.
// Invariant: both tables are committed for the same units.
// Must not know: who marks; what is done with what is not marked.
#include "collector/marks.hpp"

#include <bit>
#include <cstring>

#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr std::size_t kStepUnits = 4096;  // committed at once

constexpr Word kLowBits = 0x0101010101010101;
constexpr Word kAllButHigh = 0x7f7f7f7f7f7f7f7f;
constexpr Word kGather = 0x0102040810204080;

// A bit for each of eight bytes that is `wanted`.
Word equal_bytes(const Mark *marks, Word wanted) {
    Word bytes = 0;
    std::memcpy(&bytes, static_cast<const void *>(marks), sizeof bytes);
    const Word different = bytes ^ wanted;
    const Word equal = ~(((different & kAllButHigh) + kAllButHigh) | different | kAllButHigh);
    return ((equal >> 7) * kGather) >> 56;
}

}  // namespace

bool Marks::reserve(const Region &region) {
    first_unit_ = region.first_unit();
    most_units_ = first_unit_.value + std::size_t{region.chunk_limit()} * kUnitsPerChunk;
    covered_units_ = first_unit_.value;
    narrow_ = static_cast<Mark *>(platform::reserve(most_units_ * kNarrowRow));
    wide_ = static_cast<Mark *>(platform::reserve(most_units_ * kWideRow));
    if (narrow_ != nullptr && wide_ != nullptr) return true;
    unreserve();
    return false;
}

void Marks::unreserve() {
    if (narrow_ != nullptr) platform::unmap(narrow_, most_units_ * kNarrowRow);
    if (wide_ != nullptr) platform::unmap(wide_, most_units_ * kWideRow);
    narrow_ = wide_ = nullptr;
    covered_units_ = first_unit_.value;
}

bool Marks::cover(UnitIndex end) {
    const std::size_t wanted = align_up(std::size_t{end.value}, kStepUnits);
    const std::size_t units = wanted < most_units_ ? wanted : most_units_;
    if (units <= covered_units_) return true;
    if (!cover(narrow_, kNarrowRow, units) || !cover(wide_, kWideRow, units)) return false;
    covered_units_ = units;
    return true;
}

bool Marks::cover(Mark *table, std::size_t row_bytes, std::size_t units) {
    return platform::commit(table + covered_units_ * row_bytes, (units - covered_units_) * row_bytes);
}

Word Marks::live(const Superblock *s, std::uint32_t word, std::uint8_t number) const {
    const Mark *const marks = row(s->unit, Superblocks::is_wide(s->size_class)) + std::size_t{word} * kWordBits;
    Word bits = 0;
    for (unsigned at = 0; at < kWordBits; at += sizeof(Word)) bits |= equal_bytes(marks + at, number * kLowBits) << at;
    return bits;
}

void Marks::stamp(const Superblock *s, std::uint32_t word, Word bits, std::uint8_t number) const {
    Mark *const marks = row(s->unit, Superblocks::is_wide(s->size_class)) + std::size_t{word} * kWordBits;
    if (bits == ~Word{0}) {
        std::memset(static_cast<void *>(marks), number, kWordBits);
        return;
    }
    for (; bits != 0; bits &= bits - 1) marks[std::countr_zero(bits)].store(number, std::memory_order_relaxed);
}

void Marks::clear() {
    const std::size_t units = covered_units_ - first_unit_.value;
    clear(row(first_unit_, false), units * kNarrowRow);
    clear(row(first_unit_, true), units * kWideRow);
}

// Pages that are locked are not given back.
void Marks::clear(Mark *marks, std::size_t bytes) {
    if (!platform::purge(marks, bytes)) std::memset(static_cast<void *>(marks), 0, bytes);
}

}  // namespace gr

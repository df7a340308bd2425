// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/marks.hpp"

#include <bit>
#include <cstring>

#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr Word kLowBits = 0x0101010101010101;
constexpr Word kAllButHigh = 0x7f7f7f7f7f7f7f7f;
constexpr Word kGather = 0x0102040810204080;
constexpr std::size_t kAhead = 8 * kWordBits;  // how far ahead marks are prefetched

// A bit for each of the eight bytes that equals its byte of `wanted`.
Word equal_bytes(const Mark *marks, Word wanted) {
    Word bytes = 0;
    std::memcpy(&bytes, static_cast<const void *>(marks), sizeof bytes);
    const Word different = bytes ^ wanted;
    const Word equal = ~(((different & kAllButHigh) + kAllButHigh) | different | kAllButHigh);
    return ((equal >> 7) * kGather) >> 56;
}

}  // namespace

Word Marks::live(const Superblock *s, std::uint32_t word, std::uint8_t number) const {
    const Mark *const marks = row(s) + std::size_t{word} * kWordBits;
    __builtin_prefetch(static_cast<const void *>(marks + kAhead));
    Word bits = 0;
    for (unsigned at = 0; at < kWordBits; at += sizeof(Word)) bits |= equal_bytes(marks + at, number * kLowBits) << at;
    return bits;
}

Word Marks::raised(const Superblock *s, std::uint32_t word) const {
    const Mark *const marks = row(s) + std::size_t{word} * kWordBits;
    Word bits = 0;
    for (unsigned at = 0; at < kWordBits; at += sizeof(Word)) {
        Word bytes = 0;
        std::memcpy(&bytes, static_cast<const void *>(marks + at), sizeof bytes);
        bits |= (bytes * kGather) >> 56 << at;
    }
    return bits;
}

void Marks::stamp(const Superblock *s, std::uint32_t word, Word bits, std::uint8_t number) const {
    Mark *const marks = row(s) + std::size_t{word} * kWordBits;
    if (bits == ~Word{0}) {
        std::memset(static_cast<void *>(marks), number, kWordBits);
        return;
    }
    for (; bits != 0; bits &= bits - 1) marks[std::countr_zero(bits)].store(number, std::memory_order_relaxed);
}

void Marks::clear() {
    clear(row(first_unit(), false), covered_rows() * kNarrowRow);
    clear(row(first_unit(), true), covered_rows() * kWideRow);
}

void Marks::give_back(UnitIndex first, UnitIndex end) const {
    give_back(row(first, false), row(end, false));
    give_back(row(first, true), row(end, true));
}

void Marks::give_back(Mark *begin, Mark *end) {
    const std::size_t page = align_up(reinterpret_cast<std::uintptr_t>(begin), platform::page_size());
    const std::size_t behind = align_down(reinterpret_cast<std::uintptr_t>(end), platform::page_size());
    // Locked pages are not returned.
    if (page < behind) static_cast<void>(platform::purge(reinterpret_cast<void *>(page), behind - page));
}

// The kernel does not take locked pages back.
void Marks::clear(Mark *marks, std::size_t bytes) {
    if (!platform::purge(marks, bytes)) std::memset(static_cast<void *>(marks), 0, bytes);
}

}  // namespace gr

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
constexpr std::size_t kAhead = 8 * kWordBits;  // marks are prefetched; a sweep goes from the end to the beginning

// Read as one word while other threads store bytes of it.
using WordOfMarks [[gnu::may_alias]] = Word;

Word load_marks(const Mark *marks) {
    return __atomic_load_n(reinterpret_cast<const WordOfMarks *>(marks), __ATOMIC_RELAXED);
}

// Whether a byte is zero. Bytes above one that is zero may be taken for zero, too; the answer is right all the same.
bool has_zero_byte(Word bytes) { return ((bytes - kLowBits) & ~bytes & ~kAllButHigh) != 0; }

// Whether any of the marks of one word of a bitmap is the number. Most words of young blocks have no such mark.
bool has_any(const Mark *marks, Word wanted) {
    using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
    using Pair [[gnu::vector_size(16)]] = Word;
    const Bytes all = reinterpret_cast<Bytes>(Pair{wanted, wanted});
    Bytes equal{};
    for (std::size_t at = 0; at < kWordBits; at += sizeof(Bytes)) {
        Bytes bytes;
        std::memcpy(&bytes, static_cast<const void *>(marks + at), sizeof bytes);
        equal |= reinterpret_cast<Bytes>(bytes == all);
    }
    const Pair any = reinterpret_cast<Pair>(equal);
    return (any[0] | any[1]) != 0;
}

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
    __builtin_prefetch(static_cast<const void *>(marks - kAhead));
    if (!has_any(marks, number * kLowBits)) return 0;
    Word bits = 0;
    for (unsigned at = 0; at < kWordBits; at += sizeof(Word)) bits |= equal_bytes(marks + at, number * kLowBits) << at;
    return bits;
}

std::size_t Marks::first_of(const Mark *marks, std::size_t begin, std::size_t end, std::uint8_t number) {
    const auto is_found = [&](std::size_t i) { return marks[i].load(std::memory_order_relaxed) == number; };
    std::size_t i = begin;
    while (i < end) {
        const bool is_at_word = i % sizeof(Word) == 0 && i + sizeof(Word) <= end;
        if (is_at_word && !has_zero_byte(load_marks(marks + i) ^ (number * kLowBits))) {
            i += sizeof(Word);
        } else if (is_found(i)) {
            break;
        } else {
            ++i;
        }
    }
    return i;
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether any of some neighbouring words may lie in a range of addresses, asked of all at once.
// Invariant: the answer false is never wrong.
// Must not know: what a word in the range means.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bits.hpp"

namespace gr {

// Whether of some neighbouring words any may lie in a range, by the upper halves of all at once: false is never wrong.
class Sieve {
  public:
    static constexpr std::ptrdiff_t kBytes = 8 * sizeof(std::uintptr_t);

    Sieve(std::uintptr_t base, std::size_t bytes)
        : before_(all(upper(base) + kLowest)),
          last_(reinterpret_cast<Signed>(all(upper(base + bytes - 1) - upper(base) + kLowest))) {}

    [[gnu::always_inline]] bool lets_pass(const char *at) const {
        const Pair beyond = reinterpret_cast<Pair>((from_base(at) > last_) & (from_base(at + kBytes / 2) > last_));
        return (beyond[0] & beyond[1]) != ~Word{0};
    }

  private:
    static_assert(std::endian::native == std::endian::little && sizeof(std::uintptr_t) == 8,
                  "a bitmap is read as bits from the lowest, a word at a time");
    using Halves [[gnu::vector_size(16)]] = std::uint32_t;
    using Signed [[gnu::vector_size(16)]] = std::int32_t;
    using Pair [[gnu::vector_size(16)]] = Word;

    // Processors compare signed numbers, so the lowest of them stands for the base.
    static constexpr std::uint32_t kLowest = std::uint32_t{1} << 31;

    static std::uint32_t upper(std::uintptr_t word) { return static_cast<std::uint32_t>(word >> 32); }
    static Halves all(std::uint32_t half) { return Halves{half, half, half, half}; }
    // How far the upper halves of four words are from the base's.
    [[gnu::always_inline]] Signed from_base(const char *at) const {
        Halves first;
        Halves second;
        std::memcpy(&first, at, sizeof first);
        std::memcpy(&second, at + sizeof first, sizeof second);
        return reinterpret_cast<Signed>(__builtin_shufflevector(first, second, 1, 3, 5, 7) - before_);
    }

    const Halves before_;
    const Signed last_;
};

// Whether any of some neighbouring words at no multiple of a word may lie in a range, by their three upper bytes: false is
// never wrong. The kernel gives addresses of more than 48 bits only to programs that ask for them, so the two uppermost
// bytes of an address are zero.
class UnalignedSieve {
  public:
    using Bytes [[gnu::vector_size(16)]] = std::uint8_t;

    static constexpr std::ptrdiff_t kAddresses = sizeof(Bytes);  // at which words begin, in one look
    static constexpr std::ptrdiff_t kReach = kAddresses + std::ptrdiff_t{sizeof(std::uintptr_t)} - 1;

    UnalignedSieve(std::uintptr_t base, std::size_t bytes)
        : lowest_(all(sixth(base))), most_(all(static_cast<std::uint8_t>(sixth(base + bytes - 1) - sixth(base)))) {}

    // A byte for each address, not zero where the word may lie in the range: from a multiple of a word on.
    [[gnu::always_inline]] Bytes look(const char *at) const {
        constexpr Bytes kUnaligned = {0, 255, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255};
        return look_at_all(at) & kUnaligned;
    }
    // Likewise of the last words before a multiple of a word.
    [[gnu::always_inline]] Bytes look_before(const char *end) const {
        constexpr Bytes kUnaligned = {255, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255, 0};
        return look_at_all(end - kReach) & kUnaligned;
    }
    [[gnu::always_inline]] static bool any(Bytes passing) {
        using Pair [[gnu::vector_size(16)]] = Word;
        const Pair both = reinterpret_cast<Pair>(passing);
        return (both[0] | both[1]) != 0;
    }
    // Whether any of the words that lie within these two words may pass: whether two bytes side by side are zero.
    [[gnu::always_inline]] static bool may_pass_within(std::uintptr_t first, std::uintptr_t second) {
        constexpr std::uintptr_t kEach = 0x0101010101010101;
        constexpr unsigned kUppermost = 56;
        // The two uppermost bytes of the second word are that word's own.
        const std::uintptr_t next = second | std::uintptr_t{0xff} << kUppermost;
        const std::uintptr_t zero_in_both = (first >> kUppermost | second << 8) | next;
        return ((zero_in_both - kEach) & ~zero_in_both & kEach << 7) != 0;
    }

  private:
    static constexpr std::ptrdiff_t kWord = sizeof(std::uintptr_t);

    static std::uint8_t sixth(std::uintptr_t word) { return static_cast<std::uint8_t>(word >> 40); }
    static Bytes all(std::uint8_t byte) { return Bytes{} + byte; }
    [[gnu::always_inline]] Bytes look_at_all(const char *at) const {
        Bytes sixths;
        Bytes sevenths;
        Bytes eighths;
        std::memcpy(&sixths, at + kWord - 3, sizeof sixths);
        std::memcpy(&sevenths, at + kWord - 2, sizeof sevenths);
        std::memcpy(&eighths, at + kWord - 1, sizeof eighths);
        const auto is_within = reinterpret_cast<Bytes>(sixths - lowest_ <= most_);
        const auto is_zero = reinterpret_cast<Bytes>((sevenths | eighths) == 0);
        return is_within & is_zero;
    }

    const Bytes lowest_;
    const Bytes most_;
};

}  // namespace gr

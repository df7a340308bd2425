// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bytes that only one block of a run holds at only one place.
// Invariant: byte i depends on the block's id and i alone, so a prefix can be checked after a realloc.
// Must not know: where blocks come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gr::fuzz {

// Successive words differ in every byte sooner or later, and words of two ids differ at once.
constexpr std::uint64_t pattern_word(std::uint64_t id, std::size_t index) {
    constexpr std::uint64_t kIdFactor = 0x9e3779b97f4a7c15U;
    constexpr std::uint64_t kIndexFactor = 0xd1b54a32d192ed03U;
    return (id + 1) * kIdFactor ^ (index + 1) * kIndexFactor;
}

inline void fill(void *address, std::size_t bytes, std::uint64_t id) {
    auto *const block = static_cast<std::byte *>(address);
    const std::size_t words = bytes / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < words; ++i) {
        const std::uint64_t word = pattern_word(id, i);
        std::memcpy(block + i * sizeof word, &word, sizeof word);
    }
    const std::uint64_t last = pattern_word(id, words);
    std::memcpy(block + words * sizeof last, &last, bytes % sizeof last);
}

// The offset of the first byte that is not as fill left it; bytes when all are.
inline std::size_t first_change(const void *address, std::size_t bytes, std::uint64_t id) {
    const auto *const block = static_cast<const std::byte *>(address);
    const std::size_t words = bytes / sizeof(std::uint64_t);
    for (std::size_t i = 0; i <= words; ++i) {
        const std::uint64_t expected = pattern_word(id, i);
        const std::size_t at = i * sizeof expected;
        const std::size_t length = i < words ? sizeof expected : bytes % sizeof expected;
        if (std::memcmp(block + at, &expected, length) == 0) continue;
        for (std::size_t k = 0; k < length; ++k) {
            if (block[at + k] != static_cast<std::byte>(expected >> (8 * k))) return at + k;
        }
    }
    return bytes;
}

inline std::size_t first_nonzero(const void *address, std::size_t bytes) {
    const auto *const block = static_cast<const std::byte *>(address);
    for (std::size_t i = 0; i < bytes; ++i) {
        if (block[i] != std::byte{0}) return i;
    }
    return bytes;
}

}  // namespace gr::fuzz

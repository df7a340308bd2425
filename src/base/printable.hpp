// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: text of unknown origin made fit for one line that people and JSON readers take.
// Invariant: the result is valid UTF-8 without control characters, and no longer than before.
// Must not know: where the text comes from and where it goes.
#pragma once

#include <cstddef>

#include "base/text.hpp"

namespace gr {

// The length of the UTF-8 character that begins here, in bytes; 0 if none does. Only shortest forms, no surrogates.
constexpr std::size_t character_bytes(const char *text, std::size_t size) {
    const auto byte = [&](std::size_t i) { return i < size ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const unsigned first = byte(0);
    if (first < 0x80) return size == 0 ? 0 : 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool fits = (first != 0xE0 || byte(1) >= 0xA0) && (first != 0xED || byte(1) < 0xA0);
        return fits && follows(1) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool fits = (first != 0xF0 || byte(1) >= 0x90) && (first != 0xF4 || byte(1) < 0x90);
        return fits && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

// Replaces each byte that belongs to no printable character by a question mark.
constexpr void make_printable(char *text, std::size_t size) {
    for (std::size_t i = 0; i < size;) {
        const std::size_t bytes = character_bytes(text + i, size - i);
        const auto first = static_cast<unsigned char>(text[i]);
        if (bytes == 0 || first < ' ' || first == 0x7F) text[i] = '?';
        i += bytes == 0 ? 1 : bytes;
    }
}

// Writes printable text as a JSON string, with its quotes.
inline void put_json_string(Text &out, const char *text) {
    out << '"';
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\') out << '\\';
        out << *text;
    }
    out << '"';
}

}  // namespace gr

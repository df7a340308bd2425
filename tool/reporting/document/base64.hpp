// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bytes as text, six bits a letter (RFC 4648).
// Invariant: four letters for each three bytes begun.
// Must not know: what the bytes are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gr::tool {

[[nodiscard]] inline std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr const char *kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t there = bytes.size() - i < 3 ? bytes.size() - i : 3;
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 3; ++k) three = three << 8 | (k < there ? bytes[i + k] : 0U);
        for (std::size_t k = 0; k < 4; ++k) text += k <= there ? kLetters[three >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

}  // namespace gr::tool

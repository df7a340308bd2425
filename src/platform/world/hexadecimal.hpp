// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: numbers as the kernel writes them in hexadecimal: small letters, no prefix.
// Invariant: a character that is no digit ends a number.
// Must not know: what is counted.
#pragma once

namespace gr::platform {

inline constexpr int kNoDigit = -1;

constexpr int hexadecimal_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return kNoDigit;
}

}  // namespace gr::platform

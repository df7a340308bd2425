// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reads a word of memory that the program wrote as any type.
// Invariant: the word is copied byte by byte, so its type does not matter.
// Must not know: what the word means.
#pragma once

#include <cstdint>
#include <cstring>

namespace gr {

inline std::uintptr_t word_at(const char *at) {
    std::uintptr_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

}  // namespace gr

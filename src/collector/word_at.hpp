// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a word of somebody's memory.
// Invariant: none; by whom it was written, and as what, is not known.
// Must not know: what it means.
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

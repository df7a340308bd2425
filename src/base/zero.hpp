// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: zeroes a block, a small one without a call.
// Invariant: all bytes of the block are zero, and no other byte is written.
// Must not know: whose block it is.
#pragma once

#include <cstring>

#include "base/config.hpp"

namespace gr {

// The size is a multiple of kFineStep, and not 0. A small block is written from both ends, a quarter or a half from each,
// where the two may overlap.
[[gnu::always_inline]] inline void *zero_block(void *p, std::size_t bytes) {
    char *const begin = static_cast<char *>(p);
    char *const end = begin + bytes;
    if (bytes > 8 * kFineStep) return std::memset(p, 0, bytes);
    if (bytes <= 2 * kFineStep) {
        std::memset(begin, 0, kFineStep);
        std::memset(end - kFineStep, 0, kFineStep);
    } else if (bytes <= 4 * kFineStep) {
        std::memset(begin, 0, 2 * kFineStep);
        std::memset(end - 2 * kFineStep, 0, 2 * kFineStep);
    } else {
        std::memset(begin, 0, 4 * kFineStep);
        std::memset(end - 4 * kFineStep, 0, 4 * kFineStep);
    }
    return p;
}

}  // namespace gr

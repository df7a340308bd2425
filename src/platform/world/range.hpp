// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a piece of memory, given by its two ends or by the places where its address and its count are stored.
// Invariant: begin <= end; end does not belong to the piece.
// Must not know: what lies there.
#pragma once

#include <cstddef>

namespace gr::platform {

struct Range {
    const char *begin = nullptr;
    const char *end = nullptr;

    std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
    bool is_empty() const { return begin == end; }
    bool contains(const void *p) const { return begin <= p && p < end; }
};

// A piece that moves and grows: where its address is stored, and where the count of its elements is.
struct Growing {
    const void *begin_cell;
    const std::size_t *count_cell;
    std::size_t element_bytes;
};

}  // namespace gr::platform

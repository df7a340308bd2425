// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the number by which a reader sees that bytes are no longer those that were written.
// Invariant: CRC-32; that of two pieces is that of the second, from that of the first.
// Must not know: whose bytes they are.
#pragma once

#include <zlib.h>

#include <cstdint>

#include "reading/trace/columns.hpp"

namespace gr::trace {

inline std::uint32_t check_of(std::uint32_t before, ByteView bytes) {
    if (bytes.empty()) return before;  // zlib takes a null pointer for a question
    return static_cast<std::uint32_t>(::crc32(before, bytes.data(), static_cast<unsigned>(bytes.size())));
}

}  // namespace gr::trace

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bytes at a place in an open file.
// Invariant: as many as there are, though the kernel gives fewer at a time or a signal comes between.
// Must not know: what the file is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::tool {

// Reads until `bytes` are there; how many there are before an error (errno) or the end (errno = 0).
[[nodiscard]] std::size_t read_at(int file, std::uint64_t offset, void *to, std::size_t bytes);

}  // namespace gr::tool

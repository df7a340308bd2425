// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: ELF files whose debug information is compressed by zstd, for the elfutils of Debian 12, which reads only zlib.
// Invariant: nothing outside the file is read, however it lies about its offsets; what is broken stays as it is.
// Must not know: what the sections say.
#pragma once

namespace gr::tool {

// Returns the open file, or a copy of it in memory whose sections are not compressed by zstd; the file is then closed.
[[nodiscard]] int with_plain_sections(int file);

}  // namespace gr::tool

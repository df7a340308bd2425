// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: ELF files whose debug information zstd compressed, for the elfutils of Debian 12, which read only zlib.
// Invariant: nothing outside the file is read, however it lies about its offsets; what is broken stays as it is.
// Must not know: what the sections say.
#pragma once

namespace gr::tool {

// Takes an open file. It is returned, or a copy of it in memory whose sections are not compressed by zstd; the file is
// closed then.
[[nodiscard]] int with_plain_sections(int file);

}  // namespace gr::tool

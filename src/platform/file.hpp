// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: small files that the kernel writes: /proc and /sys.
// Invariant: takes no memory and no lock of libc's, and leaves errno as it was.
// Must not know: what they say.
#pragma once

#include <cstddef>

namespace gr::platform {

// What there is of it, as much as fits, ended by a zero; its length. 0: there is no such file, or it may not be read.
std::size_t read_file(const char *path, char *text, std::size_t size);

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: opens files whose names somebody else chose.
// Invariant: only regular files of a disk are opened for reading: no pipe that waits for a writer, no terminal, no device, nothing that
//    the kernel makes up in /proc.
// Must not know: what a file holds.
#pragma once

#include <string>

namespace gr::tool {

// -1: it cannot be opened, errno says why; EINVAL: it is no regular file.
[[nodiscard]] int open_regular_file(const std::string &path);

}  // namespace gr::tool

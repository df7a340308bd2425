// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the bytes of a file, as far as they can be read.
// Invariant: never throws for the file's sake. What /proc tells of a process may end in the middle, because the process did.
// Must not know: what the bytes mean.
#pragma once

#include <string>

namespace gr::tool {

[[nodiscard]] std::string file_text(const std::string &path);

}  // namespace gr::tool

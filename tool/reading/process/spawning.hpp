// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what every start of a program by posix_spawn needs: words as the kernel wants them, and the text of a pipe.
// Invariant: the words outlive the pointers to them. A pipe that was read is closed.
// Must not know: which program starts, and what for.
#pragma once

#include <string>
#include <vector>

namespace gr::tool {

// With the null pointer that ends arguments and environments.
std::vector<char *> pointers_to(const std::vector<std::string> &words);

// Reads to the end and closes.
std::string read_all(int file);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the files whose code a running process has mapped, and where.
// Invariant: one for each file and place, its pieces together. Of a file that is gone or was replaced the name is none
//    of a file's: the kernel adds that it was deleted.
// Must not know: why it is asked.
#pragma once

#include <vector>

#include "reading/process/code_module.hpp"

namespace gr::tool {

// Nothing when the process has ended.
[[nodiscard]] std::vector<CodeModule> loaded_code(int process);

}  // namespace gr::tool

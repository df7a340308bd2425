// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program, run to its end as a child of this process.
// Invariant: it has the environment, the signals and the descriptors of this process, but for what the caller changes. The
//    keys of the terminal that end a program are the child's affair.
// Must not know: what is run, and what for.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gr::tool {

struct EndedProgram {
    int status = 0;      // as wait(2) has it
    std::string errors;  // what it wrote to standard error, where that was kept
};

enum class StandardError { inherited, kept };

// The first word is searched for as execvp(3) does. Throws Failure (kNotFound, kCannotInvoke) where it cannot be started.
[[nodiscard]] EndedProgram run_to_end(const std::vector<std::string> &command,
                                      const std::vector<std::pair<std::string, std::string>> &variables,
                                      StandardError errors);

}  // namespace gr::tool

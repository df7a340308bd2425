// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the record of a lab allocator's steps, from a script that the stage plays or from the calls of a program.
// Invariant: a record that is returned has at least one step; whatever went wrong is one line.
// Must not know: what the record says.
#pragma once

#include <string>
#include <vector>

#include "commands/lab/shown_lab.hpp"

namespace gr::tool {

// Each throws Failure.
[[nodiscard]] std::string record_of_script(const ShownAllocator &allocator, const std::string &script);
// Of the program's first calls. The program runs to its end.
[[nodiscard]] std::string record_of_program(const ShownAllocator &allocator, const std::vector<std::string> &command,
                                            unsigned calls);

}  // namespace gr::tool

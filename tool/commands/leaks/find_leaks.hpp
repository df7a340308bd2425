// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary leaks: runs a program under the leak finder and tells what it and its children found; or asks a process
//    that runs so.
// Invariant: the program's own status where nothing leaked. Nothing stays behind in the file system.
// Must not know: how the command line was parsed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gr::tool {

inline constexpr int kLeaksFound = 23;  // LeakSanitizer's, too

struct LeaksRequest {
    std::vector<std::string> command;       // the program and its arguments
    std::vector<std::string> suppressions;  // files
    std::string library;                    // "": find it
    std::string output;                     // "": standard error
    std::optional<int> process;             // in place of a program
    int exit_code = kLeaksFound;            // where something leaked
    bool json = false;
    bool whole_names = false;
};

// The status to end with. Throws Failure.
[[nodiscard]] int find_leaks(const LeaksRequest &request);

}  // namespace gr::tool

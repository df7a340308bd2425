// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which libraries a program would be given, with their files, found by asking the system's loader.
// Invariant: no code of the program or of its libraries runs: the loader is this command's own, in its listing mode.
// Must not know: what is looked for in the libraries.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gr::tool {

struct LoadedLibrary {
    std::string soname;
    std::string path;  // empty: not found
};

// The loader that the kernel started this command with.
[[nodiscard]] std::string own_loader();

// Every library that program needs, directly or not, in the loader's order of look-up. Nothing when the loader could
// not tell.
[[nodiscard]] std::optional<std::vector<LoadedLibrary>> loaded_libraries(const std::string &program);

}  // namespace gr::tool

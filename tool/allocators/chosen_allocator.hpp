// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      an allocator by the name that somebody gave it, as a library that can be preloaded.
// Invariant: `system` is the malloc that the program has anyway; what has a slash is a file; lab:NAME is the lab's; all other
//            names are Granary's, those of the bench's peers where they were built, those of the distribution's packages, or,
//            where nothing else has that name, the lab's.
// Must not know: which program is started.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gr::tool {

struct ChosenAllocator {
    std::string name;     // as it is shown
    std::string library;  // its file; empty: none is preloaded
    std::vector<std::pair<std::string, std::string>> environment;
};

// Throws Failure (kUsage), which tells the names that there are.
[[nodiscard]] ChosenAllocator choose_allocator(const std::string &name);

// The words between commas.
[[nodiscard]] std::vector<std::string> names_in(const std::string &list);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator by the name that somebody gave it, as a library that can be preloaded.
// Invariant: `system` is the malloc that the program has anyway; lab:NAME is the lab's, and may have options behind it;
//    what else has a slash is a file; all other names are Granary's, those of the bench's peers where they were built,
//    those of the distribution's packages, or, where nothing else has that name, the lab's.
// Must not know: which program is started.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gr::tool {

// For the help of commands that take one.
inline constexpr const char *kAllocatorNames = "system, granary, lab:NAME[:OPTION=VALUE], jemalloc, ...";

// The one that the program uses anyway.
inline constexpr const char *kSystemAllocator = "system";

struct ChosenAllocator {
    std::string name;     // as it is shown, with its options
    std::string library;  // its file; empty: none is preloaded
    std::vector<std::pair<std::string, std::string>> environment;
};

// Throws Failure (kUsage), which tells the names that there are, or what the allocator says to its options.
[[nodiscard]] ChosenAllocator choose_allocator(const std::string &words);

// The words between commas, of which options have none.
[[nodiscard]] std::vector<std::string> names_in(const std::string &list);

}  // namespace gr::tool

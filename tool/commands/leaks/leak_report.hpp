// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a process's report of its leaks (granary/wire/leaks.h), as it was written.
// Invariant: what is returned is whole; every stack that a leak names is there, if it has one.
// Must not know: how leaks are found or shown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reading/process/code_module.hpp"

namespace gr::tool {

struct LeakGroup {
    bool direct = false;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint32_t stack = 0;  // 0: not known
    std::uint32_t owner = 0;  // the stack of the direct leak that these hang on
};

struct LeakStack {
    std::uint32_t ordinal = 0;  // stacks that were taken later have higher ones
    std::vector<std::uint64_t> calls;
};

// A file that was loaded while the stacks up to an ordinal were taken.
struct UnloadedModule {
    std::uint32_t last = 0;
    CodeModule module;
};

struct LeakReport {
    std::uint64_t process = 0;
    std::string command;
    std::string failure;  // empty: all was looked at
    std::uint64_t live_blocks = 0;
    std::uint64_t live_bytes = 0;
    std::vector<LeakGroup> leaks;
    std::map<std::uint32_t, LeakStack> stacks;
    std::vector<CodeModule> modules;
    std::vector<UnloadedModule> unloaded;
};

// Throws Failure when the file cannot be read, or is not one.
[[nodiscard]] LeakReport read_leak_report(const std::string &path);

}  // namespace gr::tool

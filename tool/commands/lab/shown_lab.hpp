// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what of the lab can be shown: allocators that record their steps, scripts, and the stage that plays a script.
// Invariant: they lie in the folder of the lab's libraries, of this build or installation.
// Must not know: what a step is; any allocator.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gr::tool {

struct ShownAllocator {
    std::string name;     // as it is shown, with its options
    std::string library;  // its file
    std::string options;  // as the library reads them; empty: none
};

struct LabScript {
    std::string name;
    std::string file;
    std::string about;  // the first sentence of its comment
};

// In the order of their names. Throws Failure where nothing was built.
[[nodiscard]] std::vector<std::string> shown_allocators();
[[nodiscard]] std::vector<LabScript> lab_scripts();

// NAME, NAME:OPTION=VALUE, or either with "lab:" in front. Throws Failure (kUsage).
[[nodiscard]] ShownAllocator choose_shown(const std::string &words);

// The file of the script that the word means: the name of one of the lab's scripts, or a file that is no program. nullopt:
// the word means a program.
[[nodiscard]] std::optional<std::string> script_file(const std::string &word);

// Throws Failure.
[[nodiscard]] std::string stage_program();

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the part of a diagnosis that asks whose malloc a native, dynamically linked program will call.
// Invariant: follows the loader's rule: the executable's own exported symbols, then preloaded ones, then libraries'.
// Must not know: whether the program can be started at all.
#pragma once

#include <string>

#include "reading/diagnosis/diagnosis.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

inline constexpr const char *kLinkedWithGranary = "it is linked with Granary and needs no preload";

// What the program's own file tells.
void examine_own_malloc(const ElfFile &program, Diagnosis &diagnosis);

// What the files of its libraries tell, direct and indirect ones.
void examine_libraries(const ElfFile &program, const std::string &path, Diagnosis &diagnosis);

}  // namespace gr::tool

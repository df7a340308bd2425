// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the symbols of a file that tell whose malloc it brings and calls.
// Invariant: only what a malloc, Granary or a known run-time is told by is among them.
// Must not know: what follows from them for a program.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "reading/process/elf_file.hpp"

namespace gr::tool {

inline constexpr std::string_view kNewName = "_Znwm";
inline constexpr std::string_view kDeleteName = "_ZdlPv";
inline constexpr std::string_view kPhpName = "php_module_startup";
inline constexpr std::string_view kPythonName = "PyObject_Malloc";

using SymbolNames = std::set<std::string, std::less<>>;

// By what the loader makes of them.
struct MallocSymbols {
    SymbolNames imported;
    SymbolNames exported;
    SymbolNames internal;  // defined, but out of the loader's sight

    [[nodiscard]] bool exports(std::string_view name) const { return exported.contains(name); }
    // Granary is part of the file.
    [[nodiscard]] bool contain_granary() const;
};

[[nodiscard]] MallocSymbols read_malloc_symbols(const ElfFile &file);

// The file defines and exports malloc.
[[nodiscard]] bool exports_malloc(const ElfFile &file);

// Granary is part of the file (linked statically).
[[nodiscard]] bool contains_granary(const ElfFile &file);

}  // namespace gr::tool

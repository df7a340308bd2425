// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/allocators/malloc_symbols.hpp"

#include "reading/allocators/allocators.hpp"

namespace gr::tool {

namespace {

constexpr std::string_view kGranaryName = "gr_version";

bool matters(std::string_view name) {
    return is_malloc_family(name) || name == kNewName || name == kDeleteName || name == kGranaryName ||
           name == "dlopen" || name == kPhpName || name == kPythonName || may_be_allocators(name) ||
           !sanitizer_of_symbol(name).empty();
}

}  // namespace

bool MallocSymbols::contain_granary() const { return exports(kGranaryName) || internal.contains(kGranaryName); }

MallocSymbols read_malloc_symbols(const ElfFile &file) {
    MallocSymbols result;
    for (const ElfSymbol &symbol : file.dynamic_symbols()) {
        if (!matters(symbol.name)) continue;
        if (!symbol.defined) {
            result.imported.emplace(symbol.name);
        } else if (symbol.global) {
            result.exported.emplace(symbol.name);
        }
    }
    for (const ElfSymbol &symbol : file.static_symbols()) {
        if (symbol.defined && matters(symbol.name) && !result.exports(symbol.name))
            result.internal.emplace(symbol.name);
    }
    return result;
}

bool exports_malloc(const ElfFile &file) { return read_malloc_symbols(file).exports("malloc"); }

bool contains_granary(const ElfFile &file) { return read_malloc_symbols(file).contain_granary(); }

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: function_table.hpp.
// Invariant: as there. What says no size ends where the next begins: code written in assembler.
// Must not know: why it is asked.
#include "reading/process/function_table.hpp"

#include <algorithm>
#include <tuple>

namespace gr::tool {

namespace {

// Higher is better.
int rank_of(const GElf_Sym &symbol) {
    const int binding = GELF_ST_BIND(symbol.st_info) == STB_GLOBAL ? 2
                        : GELF_ST_BIND(symbol.st_info) == STB_WEAK ? 1
                                                                   : 0;
    return (symbol.st_size != 0 ? 4 : 0) + binding;
}

bool may_be_code(const char *name, const GElf_Sym &symbol) {
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || name[0] == '\0') return false;
    const bool marks_code_or_data = name[0] == '$';  // aarch64
    return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && !marks_code_or_data);
}

}  // namespace

FunctionTable::FunctionTable(Dwfl_Module *module) {
    const int count = dwfl_module_getsymtab(module);
    for (int i = 0; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr begin = 0;
        const char *const name = dwfl_module_getsym_info(module, i, &symbol, &begin, nullptr, nullptr, nullptr);
        if (name != nullptr && may_be_code(name, symbol))
            functions_.push_back({begin, begin + symbol.st_size, name, rank_of(symbol)});
    }
    std::ranges::stable_sort(functions_, [](const Function &a, const Function &b) {
        return std::tie(a.begin, b.rank) < std::tie(b.begin, a.rank);
    });
    const auto is_same_code = [](const Function &a, const Function &b) { return a.begin == b.begin; };
    functions_.erase(std::unique(functions_.begin(), functions_.end(), is_same_code), functions_.end());
    for (std::size_t i = 0; i + 1 < functions_.size(); ++i) {
        if (functions_[i].end == functions_[i].begin) functions_[i].end = functions_[i + 1].begin;
    }
}

const char *FunctionTable::at(Dwarf_Addr address) const {
    const auto behind = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
    if (behind == functions_.begin() || address >= std::prev(behind)->end) return nullptr;
    return std::prev(behind)->name;
}

}  // namespace gr::tool

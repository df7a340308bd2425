// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: function_table.hpp.
// Invariant: as there. A symbol names code only if its section is executable, and no further than its section.
//    A symbol without size (a function written in assembly) names the code up to the next symbol, but only where the
//    file has its whole table of symbols: among dynamic symbols alone the code behind may belong to functions whose
//    names were stripped, and a wrong name is worse than none.
// Must not know: why it is asked.
#include "reading/process/function_table.hpp"

#include <gelf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

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

// The executable sections of the files that a module's symbols come from.
class CodeSections {
  public:
    // Where the section ends by its file; nothing: no code lies in it.
    std::optional<GElf_Addr> end_of(Elf *file, GElf_Word section) {
        const auto [at, is_new] = known_.try_emplace({file, section});
        if (is_new) at->second = find_end(file, section);
        return at->second;
    }

  private:
    static std::optional<GElf_Addr> find_end(Elf *file, GElf_Word section) {
        GElf_Shdr head;
        if (gelf_getshdr(elf_getscn(file, section), &head) == nullptr) return std::nullopt;
        if ((head.sh_flags & SHF_EXECINSTR) == 0) return std::nullopt;
        return head.sh_addr + head.sh_size;
    }

    std::map<std::pair<Elf *, GElf_Word>, std::optional<GElf_Addr>> known_;
};

bool has_whole_table(Elf *file) {
    std::size_t names = 0;
    if (file == nullptr || elf_getshdrstrndx(file, &names) != 0) return false;
    for (Elf_Scn *section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
        GElf_Shdr head;
        if (gelf_getshdr(section, &head) == nullptr) continue;
        if (head.sh_type == SHT_SYMTAB) return true;
        const char *const name = elf_strptr(file, names, head.sh_name);
        if (name != nullptr && std::string_view(name) == ".gnu_debugdata") return true;  // a compressed table
    }
    return false;
}

bool has_whole_table(Dwfl_Module *module) {
    GElf_Addr bias = 0;
    if (has_whole_table(dwfl_module_getelf(module, &bias))) return true;
    Dwarf *const information = dwfl_module_getdwarf(module, &bias);
    return information != nullptr && has_whole_table(dwarf_getelf(information));
}

}  // namespace

std::vector<FunctionTable::Symbol> FunctionTable::code_symbols(Dwfl_Module *module) {
    std::vector<Symbol> symbols;
    CodeSections sections;
    const int count = dwfl_module_getsymtab(module);
    for (int i = 0; i < count; ++i) {
        GElf_Sym symbol;
        GElf_Addr begin = 0;
        GElf_Word section = 0;
        Elf *file = nullptr;
        const char *const name = dwfl_module_getsym_info(module, i, &symbol, &begin, &section, &file, nullptr);
        if (name == nullptr || !may_be_code(name, symbol)) continue;
        const std::optional<GElf_Addr> end = sections.end_of(file, section);
        if (!end) continue;
        Symbol &found = symbols.emplace_back();
        found.begin = begin;
        found.end = begin + symbol.st_size;
        found.name = name;
        found.end_of_section = begin + (*end - symbol.st_value);
        found.rank = rank_of(symbol);
    }
    return symbols;
}

FunctionTable::FunctionTable(Dwfl_Module *module) {
    std::vector<Symbol> symbols = code_symbols(module);
    std::ranges::stable_sort(symbols, [](const Symbol &a, const Symbol &b) {
        return std::tie(a.begin, b.rank) < std::tie(b.begin, a.rank);
    });
    const auto is_same_code = [](const Symbol &a, const Symbol &b) { return a.begin == b.begin; };
    symbols.erase(std::unique(symbols.begin(), symbols.end(), is_same_code), symbols.end());
    const bool is_whole = has_whole_table(module);
    Dwarf_Addr end_of_sized = 0;
    std::vector<Symbol> functions;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        Symbol symbol = symbols[i];
        if (symbol.end == symbol.begin) {
            const bool is_label = symbol.begin < end_of_sized;  // inside of a function
            if (is_label || !is_whole) continue;
            symbol.end =
                i + 1 < symbols.size() ? std::min(symbols[i + 1].begin, symbol.end_of_section) : symbol.end_of_section;
        } else {
            end_of_sized = std::max(end_of_sized, symbol.end);
        }
        functions.push_back(symbol);
    }
    lay_out(functions);
}

// Cuts functions that lie in each other into ranges.
void FunctionTable::lay_out(const std::vector<Symbol> &symbols) {
    std::vector<Function> open;  // each lies in the one before
    Dwarf_Addr at = 0;
    const auto go_to = [&](Dwarf_Addr to) {
        while (!open.empty() && at < to) {
            const Dwarf_Addr end = std::min(open.back().end, to);
            if (at < end) functions_.push_back({at, end, open.back().name});
            at = std::max(at, end);
            if (open.back().end > at) break;
            open.pop_back();
        }
        at = to;
    };
    for (const Symbol &symbol : symbols) {
        go_to(symbol.begin);
        open.push_back(symbol);
    }
    Dwarf_Addr last = at;
    for (const Function &function : open) last = std::max(last, function.end);
    go_to(last);
}

const char *FunctionTable::at(Dwarf_Addr address) const {
    const auto behind = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
    if (behind == functions_.begin() || address >= std::prev(behind)->end) return nullptr;
    return std::prev(behind)->name;
}

}  // namespace gr::tool

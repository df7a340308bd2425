// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/debug_units.hpp"

#include <dwarf.h>

#include <algorithm>

namespace gr::tool {

namespace {

// Linkers write 0 or 1 as the address of code that they left out. No code of a linked file lies there: the file begins
// with its own head.
constexpr Dwarf_Addr kLastOfLeftOut = 1;

template <class Take>
void for_each_range(Dwarf_Die *entry, Take take) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(entry, at, &base, &begin, &end)) > 0;) {
        if (begin > kLastOfLeftOut && begin < end) take(begin, end);
    }
}

// Entries among whose children functions are described: Rust and D put functions into namespaces and modules, and a
// function may have functions of its own.
bool may_have_functions(int tag) {
    switch (tag) {
        case DW_TAG_subprogram:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_interface_type:
            return true;
        default:
            return false;
    }
}

// The last one that begins at the address or before it, if it ends behind the address.
template <class Ranges>
auto range_at(Ranges &ranges, Dwarf_Addr address) -> decltype(ranges.data()) {
    const auto behind = std::upper_bound(ranges.begin(), ranges.end(), address,
                                         [](Dwarf_Addr wanted, const auto &range) { return wanted < range.begin; });
    if (behind == ranges.begin() || address >= std::prev(behind)->end) return nullptr;
    return &*std::prev(behind);
}

template <class Ranges>
void sort_by_begin(Ranges *ranges) {
    std::stable_sort(ranges->begin(), ranges->end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
}

}  // namespace

SourceLine DebugUnit::line_at(Dwarf_Addr address) {
    Dwarf_Lines *lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&unit_, &lines, &count) != 0 || count == 0) return {};
    Dwarf_Line *const line = dwarf_getsrc_die(&unit_, address);
    if (line == nullptr) return {};
    SourceLine found;
    const char *const file = dwarf_linesrc(line, nullptr, nullptr);
    if (file != nullptr) found.file = file;
    if (dwarf_lineno(line, &found.line) != 0) found.line = 0;
    return found;
}

Dwarf_Die *DebugUnit::description() {
    if (description_.cu == nullptr) {
        Dwarf_Die split{};
        const bool is_split =
            dwarf_cu_info(unit_.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
            split.cu != nullptr;
        description_ = is_split ? split : unit_;
    }
    return &description_;
}

Dwarf_Die *DebugUnit::function_at(Dwarf_Addr address) {
    if (!is_collected_) collect_functions();
    Function *const function = range_at(functions_, address);
    return function != nullptr ? &function->entry : nullptr;
}

void DebugUnit::collect_functions() {
    is_collected_ = true;
    std::vector<Dwarf_Die> parents{*description()};
    while (!parents.empty()) {
        Dwarf_Die parent = parents.back();
        parents.pop_back();
        Dwarf_Die child;
        if (dwarf_child(&parent, &child) != 0) continue;
        do {
            const int tag = dwarf_tag(&child);
            if (tag == DW_TAG_subprogram) {
                for_each_range(&child, [&](Dwarf_Addr begin, Dwarf_Addr end) {
                    functions_.push_back({begin, end, child});
                });
            }
            if (may_have_functions(tag) && dwarf_haschildren(&child) > 0) parents.push_back(child);
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    sort_by_begin(&functions_);
}

DebugUnits::DebugUnits(Dwfl_Module *module) {
    Dwarf *const information = dwfl_module_getdwarf(module, &bias_);
    if (information == nullptr) return;
    Dwarf_CU *last = nullptr;
    std::uint8_t type = 0;
    Dwarf_Die entry;
    while (dwarf_get_units(information, last, &last, nullptr, &type, &entry, nullptr) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton) continue;  // others describe no code
        for_each_range(&entry, [&](Dwarf_Addr begin, Dwarf_Addr end) {
            ranges_.push_back({begin, end, units_.size()});
        });
        units_.emplace_back(entry);
    }
    sort_by_begin(&ranges_);
}

DebugUnit *DebugUnits::at(Dwarf_Addr loaded) {
    const Range *const range = range_at(ranges_, in_file(loaded));
    return range != nullptr ? &units_[range->unit] : nullptr;
}

}  // namespace gr::tool

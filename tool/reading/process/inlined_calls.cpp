// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: inlined_calls.hpp, by elfutils.
// Invariant: as there. A function's entry is followed from scope to scope: elfutils' own search (dwarf_getscopes) passes
//    over functions in namespaces.
// Must not know: how the unit was found.
#include "reading/process/inlined_calls.hpp"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace gr::tool {

namespace {

std::string die_name_of(Dwarf_Die *entry) {
    const char *const text = dwarf_diename(entry);
    return text != nullptr ? text : "";
}

// The entry that declares a function, where its scopes are those of the source.
Dwarf_Die declaration_of(const Dwarf_Die &function) {
    constexpr int kMostSteps = 4;
    Dwarf_Die declared = function;
    for (int step = 0; step < kMostSteps; ++step) {
        bool is_elsewhere = false;
        for (const unsigned reference : {DW_AT_abstract_origin, DW_AT_specification}) {
            Dwarf_Attribute attribute;
            Dwarf_Die next;
            if (dwarf_formref_die(dwarf_attr(&declared, reference, &attribute), &next) == nullptr) continue;
            declared = next;
            is_elsewhere = true;
            break;
        }
        if (!is_elsewhere) break;
    }
    return declared;
}

// Without a linker's name: "local::<lambda(int)>::operator()".
std::string scoped_name_of(const Dwarf_Die &function) {
    Dwarf_Die declared = declaration_of(function);
    std::string name = die_name_of(&declared);
    Dwarf_Die *found = nullptr;
    const int count = dwarf_getscopes_die(&declared, &found);
    if (count <= 0 || name.empty()) return name;
    const std::unique_ptr<Dwarf_Die[], decltype(&std::free)> scopes(found, &std::free);
    for (int i = 1; i < count; ++i) {
        Dwarf_Die *const scope = &scopes[static_cast<std::size_t>(i)];
        const int tag = dwarf_tag(scope);
        const bool is_type = tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
        const bool has_name = is_type || tag == DW_TAG_namespace || tag == DW_TAG_subprogram;
        if (!has_name) continue;
        const std::string outer = die_name_of(scope);
        if (outer.empty())
            name.insert(0, is_type ? "{unnamed}::" : "(anonymous namespace)::");
        else
            name.insert(0, outer + "::");
    }
    return name;
}

std::string name_of(Dwarf_Die *function) {
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        Dwarf_Attribute attribute;
        const char *const text = dwarf_formstring(dwarf_attr_integrate(function, name, &attribute));
        if (text != nullptr) return text;
    }
    return scoped_name_of(*function);
}

unsigned number_of(Dwarf_Die *entry, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(entry, name, &attribute), &number) != 0) return 0;
    return static_cast<unsigned>(number);
}

// Where the function was called that lies there.
SourceLine caller_of(Dwarf_Die *unit, Dwarf_Die *inlined) {
    SourceLine caller;
    caller.line = static_cast<int>(number_of(inlined, DW_AT_call_line));
    Dwarf_Files *files = nullptr;
    std::size_t count = 0;
    const unsigned file = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) return caller;
    const char *const text = dwarf_filesrc(files, file, nullptr, nullptr);
    if (text != nullptr) caller.file = text;
    return caller;
}

// Replaces a scope by the one in it that contains the address; false: there is none.
bool enter(Dwarf_Die *scope, Dwarf_Addr address) {
    Dwarf_Die child;
    if (dwarf_child(scope, &child) != 0) return false;
    do {
        const int tag = dwarf_tag(&child);
        const bool is_scope = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
                              tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
        if (is_scope && dwarf_haspc(&child, address) > 0) {
            *scope = child;
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

}  // namespace

std::vector<InlinedCall> inlined_calls(DebugUnit &unit, Dwarf_Addr address) {
    const Dwarf_Die *const function = unit.function_at(address);
    if (function == nullptr) return {};
    std::vector<InlinedCall> calls;
    Dwarf_Die scope = *function;
    while (enter(&scope, address)) {
        if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
        calls.push_back({name_of(&scope), caller_of(unit.description(), &scope)});
    }
    return calls;
}

std::string described_function(DebugUnit &unit, Dwarf_Addr address) {
    Dwarf_Die *const function = unit.function_at(address);
    return function != nullptr ? name_of(function) : std::string();
}

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: inlined_calls.hpp, by elfutils.
// Invariant: as there.
// Must not know: why it is asked.
#include "reading/process/inlined_calls.hpp"

#include <cxxabi.h>
#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace gr::tool {

namespace {

std::string name_of(Dwarf_Die *function) {
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        Dwarf_Attribute attribute;
        const char *const text = dwarf_formstring(dwarf_attr_integrate(function, name, &attribute));
        if (text != nullptr) return demangled(text);
    }
    const char *const text = dwarf_diename(function);
    return text != nullptr ? text : "";
}

unsigned number_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &number) != 0) return 0;
    return static_cast<unsigned>(number);
}

// Where the function was called that lies there.
void set_caller(Dwarf_Die *unit, Dwarf_Die *inlined, InlinedCall *call) {
    call->line = static_cast<int>(number_of(inlined, DW_AT_call_line));
    Dwarf_Files *files = nullptr;
    std::size_t count = 0;
    const unsigned file = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) return;
    const char *const text = dwarf_filesrc(files, file, nullptr, nullptr);
    if (text != nullptr) call->file = text;
}

// An array that elfutils allocated; nullptr if there is none.
using Scopes = std::unique_ptr<Dwarf_Die[], decltype(&std::free)>;

}  // namespace

std::string demangled(const char *name) {
    if (!std::string_view(name).starts_with("_Z")) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? text.get() : name;
}

std::vector<InlinedCall> inlined_calls(Dwfl_Module *module, Dwarf_Addr address) {
    Dwarf_Addr bias = 0;
    Dwarf_Die *const unit = dwfl_module_addrdie(module, address, &bias);
    if (unit == nullptr) return {};
    Dwarf_Die *found = nullptr;
    // Around an inlined function these are the scopes of its source; those of the code lie around the first.
    if (dwarf_getscopes(unit, address - bias, &found) <= 0) return {};
    const Scopes innermost(found, &std::free);
    Dwarf_Die *around = nullptr;
    const int count = dwarf_getscopes_die(innermost.get(), &around);
    if (count <= 0) return {};
    const Scopes scopes(around, &std::free);
    std::vector<InlinedCall> calls;
    for (int i = 0; i < count; ++i) {
        Dwarf_Die *const scope = &scopes[static_cast<std::size_t>(i)];
        const int tag = dwarf_tag(scope);
        if (tag == DW_TAG_subprogram) break;
        if (tag != DW_TAG_inlined_subroutine) continue;
        InlinedCall &call = calls.emplace_back();
        call.function = name_of(scope);
        set_caller(unit, scope, &call);
    }
    std::reverse(calls.begin(), calls.end());
    return calls;
}

}  // namespace gr::tool

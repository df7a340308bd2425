// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      code_places.hpp, by elfutils.
// Invariant: as there.
// Must not know: why it is asked.
#include "process/code_places.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>

namespace gr::tool {

namespace {

// What is no name of C++'s could be one of its types.
std::string demangled(const char *name) {
    if (!std::string_view(name).starts_with("_Z")) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? text.get() : name;
}

std::string hexadecimal(const unsigned char *bytes, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

constexpr Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

}  // namespace

struct CodePlaces::Session {
    Dwfl *dwfl = dwfl_begin(&kCallbacks);
    ~Session() { dwfl_end(dwfl); }

    void add(const CodeModule &module) const {
        const char *const file = module.file.c_str();
        dwfl_report_elf(dwfl, file, file, -1, module.base, true);  // what is gone is not told of
    }
    // Whether it is still the file that was loaded.
    static bool is_same(Dwfl_Module *found, const CodeModule &module) {
        const unsigned char *bytes = nullptr;
        GElf_Addr where = 0;
        GElf_Addr bias = 0;
        if (dwfl_module_getelf(found, &bias) == nullptr) return false;
        const int count = dwfl_module_build_id(found, &bytes, &where);
        return count <= 0 || module.build_id.empty() || hexadecimal(bytes, count) == module.build_id;
    }
};

CodePlaces::CodePlaces(const std::vector<CodeModule> &modules)
    : session_(std::make_unique<Session>()), modules_(modules) {
    dwfl_report_begin(session_->dwfl);
    for (const CodeModule &module : modules_) session_->add(module);
    dwfl_report_end(session_->dwfl, nullptr, nullptr);
}

CodePlaces::~CodePlaces() = default;

const CodePlace &CodePlaces::of_call(std::uint64_t address) {
    const auto [at, is_new] = known_.try_emplace(address);
    CodePlace &place = at->second;
    if (!is_new) return place;
    place.address = address;
    const CodeModule *loaded = nullptr;
    for (const CodeModule &module : modules_) {
        if (module.begin < address && address <= module.end) loaded = &module;
    }
    if (loaded == nullptr) return place;
    place.module = loaded->file;
    const std::uint64_t calls = address - 1;
    Dwfl_Module *const module = dwfl_addrmodule(session_->dwfl, calls);
    if (module == nullptr || !Session::is_same(module, *loaded)) return place;
    if (const char *const name = dwfl_module_addrname(module, calls)) place.function = demangled(name);
    if (Dwfl_Line *const line = dwfl_module_getsrc(module, calls)) {
        const char *const file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr);
        if (file != nullptr) place.file = file;
    }
    return place;
}

}  // namespace gr::tool

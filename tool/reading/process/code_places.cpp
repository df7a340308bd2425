// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: code_places.hpp, by elfutils.
// Invariant: as there.
// Must not know: why it is asked.
#include "reading/process/code_places.hpp"

#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/regular_file.hpp"
#include "reading/process/debug_units.hpp"
#include "reading/process/function_table.hpp"
#include "reading/process/inlined_calls.hpp"
#include "reading/process/plain_sections.hpp"

namespace gr::tool {

namespace {

std::string hexadecimal(const unsigned char *bytes, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

}  // namespace

// What a file says of its code.
struct CodePlaces::Module {
    explicit Module(Dwfl_Module *module) : functions(module), units(module) {}

    FunctionTable functions;
    DebugUnits units;
};

struct CodePlaces::Session {
    std::string debug_path;
    char *debug_path_text = debug_path.empty() ? nullptr : debug_path.data();
    Dwfl_Callbacks callbacks{
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debug_path_text,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    std::map<Dwfl_Module *, Module> modules;

    explicit Session(std::string path) : debug_path(std::move(path)) {}
    ~Session() { dwfl_end(dwfl); }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    void add(const CodeModule &module) const {
        const char *const file = module.file.c_str();
        int opened = open_regular_file(module.file);
        if (opened < 0) return;  // what is gone, or no file of a disk, tells nothing
        opened = with_plain_sections(opened);
        if (dwfl_report_elf(dwfl, file, file, opened, module.base, true) == nullptr) ::close(opened);
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

CodePlaces::CodePlaces(const std::vector<CodeModule> &modules, const std::string &debug_path)
    : session_(std::make_unique<Session>(debug_path)), modules_(modules) {
    dwfl_report_begin(session_->dwfl);
    for (const CodeModule &module : modules_) session_->add(module);
    dwfl_report_end(session_->dwfl, nullptr, nullptr);
}

CodePlaces::~CodePlaces() = default;

CodePlaces::Known &CodePlaces::known(std::uint64_t address) {
    const auto [at, is_new] = known_.try_emplace(address);
    if (is_new) look_up(address, &at->second);
    return at->second;
}

void CodePlaces::look_up(std::uint64_t address, Known *known) const {
    CodePlace &place = known->place;
    place.address = address;
    const CodeModule *loaded = nullptr;
    for (const CodeModule &module : modules_) {
        if (module.begin < address && address <= module.end) loaded = &module;
    }
    if (loaded == nullptr) return;
    place.module = loaded->file;
    const std::uint64_t calls = address - 1;
    Dwfl_Module *const module = dwfl_addrmodule(session_->dwfl, calls);
    if (module == nullptr || !Session::is_same(module, *loaded)) return;
    known->module = &session_->modules.try_emplace(module, module).first->second;
    DebugUnits &units = known->module->units;
    DebugUnit *const unit = units.at(calls);
    const char *const name = known->module->functions.at(calls);
    if (name != nullptr) place.function = name;
    if (unit == nullptr) return;
    // The symbol "f.cold" may be a function of Go, or the part of C's f that is seldom executed.
    constexpr std::string_view kCold = ".cold";
    if (name == nullptr || place.function.ends_with(kCold)) {
        std::string described = described_function(*unit, units.in_file(calls));
        if (name == nullptr || place.function == described + std::string(kCold)) place.function = std::move(described);
    }
    SourceLine line = unit->line_at(units.in_file(calls));
    place.file = std::move(line.file);
    place.line = line.line;
}

const CodePlace &CodePlaces::of_call(std::uint64_t address) { return known(address).place; }

// Each function is called where the one around it says; the innermost is where the code is.
const std::vector<CodePlace> &CodePlaces::all_of_call(std::uint64_t address) {
    Known &known = this->known(address);
    if (!known.all.empty()) return known.all;
    CodePlace next = known.place;
    const std::uint64_t calls = address - 1;
    DebugUnit *const unit = known.module != nullptr ? known.module->units.at(calls) : nullptr;
    if (unit != nullptr) {
        for (InlinedCall &inlined : inlined_calls(*unit, known.module->units.in_file(calls))) {
            next.file = std::move(inlined.caller.file);
            next.line = inlined.caller.line;
            known.all.push_back(next);
            next.function = std::move(inlined.function);
        }
    }
    next.file = known.place.file;
    next.line = known.place.line;
    known.all.push_back(std::move(next));
    return known.all;
}

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "reading/process/elf_file.hpp"
#include "reading/symbols/function_name.hpp"

namespace gr::tool {

namespace {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// What is added to the addresses that the file tells. A file that cannot be read tells none. One of debug information
// alone has lost where its segments lay in the file, so its only segment of code is taken for the mapped one.
std::uint64_t bias_of(const trace::Module &module, const std::string &path, std::uint64_t page_bytes) {
    try {
        const ElfFile file(path);
        if (const auto address = file.address_of_code(module.offset, module.end - module.begin))
            return module.begin - *address;
        if (const auto address = file.address_of_only_code()) return module.begin - *address / page_bytes * page_bytes;
    } catch (const std::system_error &) {
        return module.begin - module.offset;
    }
    return module.begin - module.offset;
}

// One for each file and place: its pieces together.
std::vector<CodeModule> code_modules(const ModulePieces &pieces, ModuleFiles *found, std::uint64_t page_bytes) {
    std::map<std::pair<std::string, std::uint64_t>, CodeModule> files;
    for (const trace::Module &piece : pieces.all()) {
        const std::string &path = found->of(piece).path;
        if (path.empty()) continue;
        const std::uint64_t bias = bias_of(piece, path, page_bytes);
        const auto [at, is_new] =
            files.try_emplace({path, bias}, CodeModule{bias, piece.begin, piece.end, piece.build_id, path});
        at->second.begin = std::min(at->second.begin, piece.begin);
        at->second.end = std::max(at->second.end, piece.end);
    }
    std::vector<CodeModule> modules;
    modules.reserve(files.size());
    for (auto &[key, module] : files) modules.push_back(std::move(module));
    return modules;
}

}  // namespace

Calls::Calls(const trace::Trace &trace, FileSearch search, Names preferred)
    : stacks_(trace.stacks()),
      pieces_(trace),
      embedded_(trace.symbols()),
      files_(std::move(search)),
      places_(code_modules(pieces_, &files_, trace.start().page_bytes), files_.debug_path()),
      preferred_(preferred) {}

std::string Calls::unknown(std::uint64_t address) const {
    const trace::Module *const module = pieces_.at(address - 1);
    if (module == nullptr) return fmt::format("{:#x}", address);
    return fmt::format("{}+{:#x}", printable(base_name(module->path)), address - module->begin + module->offset);
}

const std::vector<Call> *Calls::in_trace(std::uint64_t address) {
    const trace::Module *const module = pieces_.at(address - 1);
    return module != nullptr ? embedded_.at(*module, address - module->begin + module->offset) : nullptr;
}

const std::vector<Call> &Calls::in_files(std::uint64_t address) {
    const trace::Module *const module = pieces_.at(address - 1);
    if (module != nullptr) {
        const FileState state = files_.of(*module).state;
        if (state != FileState::found && module->path.starts_with('/')) unread_.try_emplace(module->path, state);
    }
    std::vector<Call> &calls = in_files_[address];
    for (const CodePlace &place : places_.all_of_call(address)) {
        const bool is_known = !place.function.empty();
        std::string function = is_known ? printable(demangled(place.function)) : unknown(address);
        std::string short_form = is_known ? brief(function) : function;
        calls.push_back({std::move(function), std::move(short_form), printable(place.file), place.line,
                         module != nullptr ? printable(base_name(module->path)) : "", is_known});
    }
    return calls;
}

const std::vector<Call> &Calls::at(std::uint64_t address) {
    const auto [at, is_new] = known_.try_emplace(address, nullptr);
    if (!is_new) return *at->second;
    const std::vector<Call> *const of_trace = in_trace(address);
    const std::vector<Call> *const of_files =
        of_trace == nullptr || preferred_ == Names::of_files ? &in_files(address) : nullptr;
    const bool is_of_trace = of_trace != nullptr && (of_files == nullptr || !of_files->front().is_known);
    at->second = is_of_trace ? of_trace : of_files;
    return *at->second;
}

std::vector<const Call *> Calls::of(trace::StackNumber stack) {
    std::vector<const Call *> calls;
    for (std::uint32_t node = trace::number_of(stack); node != 0; node = trace::number_of(stacks_[node].parent)) {
        const std::vector<Call> &here = at(stacks_[node].address);
        for (auto call = here.rbegin(); call != here.rend(); ++call) calls.push_back(&*call);
    }
    std::reverse(calls.begin(), calls.end());
    return calls;
}

}  // namespace gr::tool

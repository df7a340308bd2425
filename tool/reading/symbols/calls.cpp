// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// What is added to the addresses that the file tells. A file that is gone tells none.
std::uint64_t bias_of(const trace::Module &module) {
    try {
        const ElfFile file(module.path);
        if (const auto address = file.address_of_code(module.offset, module.end - module.begin))
            return module.begin - *address;
    } catch (const std::system_error &) {
        return module.begin - module.offset;
    }
    return module.begin - module.offset;
}

// One for each file and place: its pieces together.
std::vector<CodeModule> code_modules(const std::vector<trace::Module> &pieces) {
    std::map<std::pair<std::string, std::uint64_t>, CodeModule> files;
    for (const trace::Module &piece : pieces) {
        if (!piece.path.starts_with('/')) continue;  // no file, as "[vdso]": a recorder writes whole paths
        const std::uint64_t bias = bias_of(piece);
        const auto [at, is_new] =
            files.try_emplace({piece.path, bias}, CodeModule{bias, piece.begin, piece.end, piece.build_id, piece.path});
        at->second.begin = std::min(at->second.begin, piece.begin);
        at->second.end = std::max(at->second.end, piece.end);
    }
    std::vector<CodeModule> modules;
    modules.reserve(files.size());
    for (auto &[key, module] : files) modules.push_back(std::move(module));
    return modules;
}

}  // namespace

Calls::Calls(const trace::Trace &trace)
    : stacks_(trace.stacks()), pieces_(trace), places_(code_modules(pieces_.all())) {}

std::string Calls::unknown(std::uint64_t address) const {
    const trace::Module *const module = pieces_.at(address - 1);
    if (module == nullptr) return fmt::format("{:#x}", address);
    return fmt::format("{}+{:#x}", printable(base_name(module->path)), address - module->begin + module->offset);
}

const std::vector<Call> &Calls::at(std::uint64_t address) {
    const auto [at, is_new] = known_.try_emplace(address);
    if (!is_new) return at->second;
    const trace::Module *const module = pieces_.at(address - 1);
    for (const CodePlace &place : places_.all_of_call(address)) {
        const bool is_known = !place.function.empty();
        at->second.push_back({is_known ? printable(place.function) : unknown(address), printable(place.file),
                              place.line, module != nullptr ? printable(base_name(module->path)) : "", is_known});
    }
    return at->second;
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

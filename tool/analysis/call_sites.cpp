// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: call_sites.hpp.
// Invariant: as there.
// Must not know: what was allocated there.
#include "analysis/call_sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "process/elf_file.hpp"

namespace gr::analysis {

namespace {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// By begin; of those that lie over each other at different times, the latest.
std::vector<trace::Module> modules_of(const trace::Trace &trace) {
    std::map<std::uint64_t, trace::Module> by_begin;
    for (const trace::ModuleList &list : trace.modules()) {
        for (const trace::Module &module : list.modules) by_begin[module.begin] = module;
    }
    std::vector<trace::Module> modules;
    for (auto &[begin, module] : by_begin) modules.push_back(std::move(module));
    return modules;
}

// What is added to the addresses that the file tells. A file that is gone tells none.
std::uint64_t bias_of(const trace::Module &module) {
    try {
        const tool::ElfFile file(module.path);
        if (const auto address = file.address_of_offset(module.offset)) return module.begin - *address;
    } catch (const std::system_error &) {
        return module.begin - module.offset;
    }
    return module.begin - module.offset;
}

// One for each file and place: its pieces together.
std::vector<tool::CodeModule> code_modules(const std::vector<trace::Module> &pieces) {
    std::map<std::pair<std::string, std::uint64_t>, tool::CodeModule> files;
    for (const trace::Module &piece : pieces) {
        const std::uint64_t bias = bias_of(piece);
        const auto [at, is_new] = files.try_emplace(
            {piece.path, bias}, tool::CodeModule{bias, piece.begin, piece.end, piece.build_id, piece.path});
        at->second.begin = std::min(at->second.begin, piece.begin);
        at->second.end = std::max(at->second.end, piece.end);
    }
    std::vector<tool::CodeModule> modules;
    for (auto &[key, module] : files) modules.push_back(std::move(module));
    return modules;
}

bool only_passes_on(const std::string &function) {
    constexpr std::string_view kNames[] = {"malloc",        "calloc",   "realloc", "posix_memalign",
                                           "aligned_alloc", "memalign", "valloc",  "pvalloc"};
    return function.starts_with("operator new") || std::ranges::find(kNames, function) != std::end(kNames);
}

}  // namespace

CallSites::CallSites(const trace::Trace &trace)
    : stacks_(trace.stacks()), modules_(modules_of(trace)), places_(code_modules(modules_)) {}

Frame CallSites::named(std::uint64_t address) {
    const tool::CodePlace &place = places_.of_call(address);
    Frame frame{tool::printable(place.function), tool::printable(place.file), place.line, ""};
    const auto behind = std::ranges::upper_bound(modules_, address - 1, {}, &trace::Module::begin);
    const bool is_in_module = behind != modules_.begin() && address - 1 < (behind - 1)->end;
    if (is_in_module) frame.module = tool::printable(base_name((behind - 1)->path));
    if (!frame.name.empty()) return frame;
    frame.name = is_in_module
                     ? fmt::format("{}+{:#x}", frame.module, address - (behind - 1)->begin + (behind - 1)->offset)
                     : fmt::format("{:#x}", address);
    return frame;
}

std::uint32_t CallSites::frame_of(std::uint64_t address) {
    const auto [at, is_new] = by_address_.try_emplace(address);
    if (!is_new) return at->second;
    Frame frame = named(address);
    const std::string text = fmt::format("{}\n{}\n{}\n{}", frame.name, frame.file, frame.line, frame.module);
    const auto [known, is_first] = by_text_.try_emplace(text, static_cast<std::uint32_t>(frames_.size()));
    if (is_first) frames_.push_back(std::move(frame));
    return at->second = known->second;
}

std::string CallSites::text(trace::StackNumber stack) {
    constexpr unsigned kCalls = 3;
    if (stack == trace::StackNumber::kNone) return "(no stack was taken)";
    std::string text;
    unsigned shown = 0;
    for (std::uint32_t node = trace::number_of(stack); node != 0 && shown < kCalls;
         node = trace::number_of(stacks_[node].parent)) {
        const Frame &frame = frames_[frame_of(stacks_[node].address)];
        const bool is_outermost = stacks_[node].parent == trace::StackNumber::kNone;
        if (shown == 0 && only_passes_on(frame.name) && !is_outermost) continue;
        if (shown++ != 0) text += " < ";
        text += frame.name;
        if (frame.line != 0) text += fmt::format(" ({}:{})", base_name(frame.file), frame.line);
    }
    return text;
}

}  // namespace gr::analysis

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "reading/symbols/function_name.hpp"

namespace gr::tool {

namespace {

// Where a function lies whose address the recorder made up: such an address says nothing to a reader.
constexpr const char *kPlace = "Python";
constexpr const char *kStandIn = "library";

constexpr const char *kNoFile = "no file";

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

std::string left_out_text(std::uint64_t least, std::uint64_t most) {
    if (least == most) return fmt::format("… {} {} …", grouped(most), most == 1 ? "frame" : "frames");
    return fmt::format("… {} to {} frames …", grouped(least), grouped(most));
}

}  // namespace

Calls::Calls(const trace::Trace &trace, FileSearch search, Names preferred)
    : names_(trace.stack_names()),
      stacks_(trace.stacks()),
      pieces_(trace),
      embedded_(trace.symbols()),
      files_(std::move(search)),
      placed_(pieces_.all(), &files_, trace.start().page_bytes),
      places_(placed_.modules(), files_.debug_path()),
      preferred_(preferred) {}

Call Calls::unknown(std::uint64_t address) const {
    const trace::Module *const module = pieces_.at(address - 1);
    Call call;
    if (module != nullptr) {
        call.module = printable(base_name(module->path));
        call.function = unknown_function(call.module);
        call.place = fmt::format("{}+{:#x}", call.module, address - module->begin + module->offset);
    } else if (address < trace::kFirstStandIn) {
        call.function = unknown_function(kNoFile);
        call.place = fmt::format("{:#x}", address);
    } else {
        call.function = unknown_function(kStandIn);
        call.is_known = true;
    }
    call.brief = call.function;
    return call;
}

const std::vector<Call> *Calls::in_trace(std::uint64_t address) {
    const trace::Module *const module = pieces_.at(address - 1);
    return module != nullptr ? embedded_.at(*module, address - module->begin + module->offset) : nullptr;
}

const std::vector<Call> &Calls::in_files(std::uint64_t address) {
    const trace::Module *const module = pieces_.at(address - 1);
    std::vector<Call> &calls = in_files_[address];
    if (module == nullptr) {
        calls.push_back(in_no_file(address));
        return calls;
    }
    const FileState state = files_.of(*module).state;
    if (state != FileState::found && module->path.starts_with('/')) unread_.try_emplace(module->path, state);
    const auto piece = static_cast<std::size_t>(module - pieces_.all().data());
    for (const CodePlace &place : places_.all_of_call(placed_.place_of(address, piece))) {
        Call call = unknown(address);
        if (!place.function.empty()) {
            call.function = printable(demangled(place.function));
            call.brief = brief(call.function);
            call.place.clear();
            call.is_known = true;
        }
        call.file = printable(place.file);
        call.line = place.line;
        calls.push_back(std::move(call));
    }
    return calls;
}

Call Calls::in_no_file(std::uint64_t address) const {
    if (address >= trace::kFirstPlace) return at_place(address);
    Call call = unknown(address);
    if (const std::string *const made = names_.made_function(address)) {
        call.function = call.brief = printable(*made);
        call.place.clear();
        call.is_known = true;
    }
    return call;
}

Call Calls::at_place(std::uint64_t address) const {
    const trace::Place *const place = names_.place(address);
    Call call;
    call.is_known = true;
    if (place == nullptr || (place->most_calls == 0 && place->function.empty())) {
        call.function = unknown_function(kPlace);
    } else if (place->most_calls != 0) {
        call.function = left_out_text(place->least_calls, place->most_calls);
        call.is_left_out = true;
    } else {
        call.function = printable(place->function);
        call.file = printable(place->file);
        call.line = place->line;
        call.module = base_name(call.file);
    }
    call.brief = call.function;
    return call;
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

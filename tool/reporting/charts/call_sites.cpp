// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/call_sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace gr::tool {

namespace {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

bool only_passes_on(const std::string &function) {
    constexpr std::string_view kNames[] = {"malloc",        "calloc",   "realloc", "posix_memalign",
                                           "aligned_alloc", "memalign", "valloc",  "pvalloc"};
    return function.starts_with("operator new") || std::ranges::find(kNames, function) != std::end(kNames);
}

}  // namespace

const std::vector<std::uint32_t> &CallSites::frames_of(std::uint64_t address) {
    const auto [at, is_new] = by_address_.try_emplace(address);
    if (!is_new) return at->second;
    for (const Call &call : calls_.at(address)) {
        const std::string text = fmt::format("{}\n{}\n{}\n{}", call.function, call.file, call.line, call.module);
        const auto [known, is_first] = by_text_.try_emplace(text, static_cast<std::uint32_t>(frames_.size()));
        if (is_first) frames_.push_back({call.function, call.file, call.line, call.module});
        at->second.push_back(known->second);
    }
    return at->second;
}

std::string CallSites::text(trace::StackNumber stack) {
    constexpr unsigned kCalls = 3;
    if (stack == trace::StackNumber::none) return "(no stack was taken)";
    const std::vector<const Call *> calls = calls_.of(stack);
    std::string text;
    unsigned shown = 0;
    for (std::size_t i = calls.size(); i-- > 0 && shown < kCalls;) {
        const Call &call = *calls[i];
        if (shown == 0 && only_passes_on(call.function) && i != 0) continue;
        if (shown++ != 0) text += " < ";
        text += call.function;
        if (call.line != 0) text += fmt::format(" ({}:{})", base_name(call.file), call.line);
    }
    return text;
}

}  // namespace gr::tool

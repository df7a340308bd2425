// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/call_sites.hpp"

#include <fmt/format.h>

#include "reporting/steps/stack_profile.hpp"

namespace gr::tool {

namespace {

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::uint32_t CallSites::frame_of(const Call &call) {
    const int line = has_lines_ ? call.line : 0;
    const std::string text = fmt::format("{}\n{}\n{}\n{}", call.function, call.file, line, call.module);
    const auto [known, is_first] = by_text_.try_emplace(text, static_cast<std::uint32_t>(frames_.size()));
    if (is_first) frames_.push_back({call.function, call.file, line, call.module});
    return known->second;
}

const std::vector<std::uint32_t> &CallSites::frames_of(std::uint64_t address) {
    const auto [at, is_new] = by_address_.try_emplace(address);
    if (!is_new) return at->second;
    for (const Call &call : calls_.at(address)) at->second.push_back(frame_of(call));
    return at->second;
}

std::optional<std::uint32_t> CallSites::caller(trace::StackNumber stack) {
    const std::vector<const Call *> calls = calls_.of(stack);
    if (calls.empty()) return std::nullopt;
    return frame_of(*calls[library_.caller(calls)]);
}

std::string CallSites::caller_text(trace::StackNumber stack) {
    const std::optional<std::uint32_t> frame = caller(stack);
    if (!frame) return kNoStack;
    const Frame &one = frames_[*frame];
    if (one.file.empty()) return one.name;
    return one.line == 0 ? fmt::format("{} ({})", one.name, base_name(one.file))
                         : fmt::format("{} ({}:{})", one.name, base_name(one.file), one.line);
}

std::string CallSites::text(trace::StackNumber stack) {
    constexpr std::size_t kCalls = 4;
    const std::vector<const Call *> calls = calls_.of(stack);
    if (calls.empty()) return kNoStack;
    const std::size_t caller = library_.caller(calls);
    std::string text;
    for (std::size_t shown = 0; shown < kCalls && shown <= caller; ++shown) {
        const Call &call = *calls[caller - shown];
        if (shown != 0) text += " < ";
        text += call.function;
        if (call.line != 0) text += fmt::format(" ({}:{})", base_name(call.file), call.line);
    }
    return text;
}

}  // namespace gr::tool

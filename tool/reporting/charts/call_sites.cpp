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
    const std::string &function = has_addresses_ ? call.unique_name() : call.function;
    const std::string text = fmt::format("{}\n{}\n{}\n{}", function, call.file, line, call.module);
    const auto [known, is_first] = by_text_.try_emplace(text, static_cast<std::uint32_t>(frames_.size()));
    const bool is_short = !has_whole_names_ && call.brief != call.function;
    if (is_first) {
        frames_.push_back(
            {is_short ? call.brief : function, call.file, line, call.module, is_short ? function : std::string()});
        lines_.emplace_back();
        of_many_.push_back(!has_addresses_ && !call.place.empty());
    }
    if (call.line != 0) lines_[known->second].insert(call.line);
    return known->second;
}

void CallSites::add_brief_names() {
    for (std::size_t number = 1; number < stacks_.size(); ++number) {
        for (const Call &call : calls_.at(stacks_[number].address)) brief_names_.add(call.function, call.brief);
    }
}

const std::string &CallSites::name_of(const Call &call) {
    if (has_addresses_ && !call.place.empty()) return call.place;
    if (has_whole_names_ || call.brief == call.function) return call.function;
    if (brief_names_.is_empty()) add_brief_names();
    return brief_names_.is_unique(call.brief) ? call.brief : call.function;
}

const std::vector<std::uint32_t> &CallSites::frames_of(std::uint64_t address) {
    const auto [at, is_new] = by_address_.try_emplace(address);
    if (!is_new) return at->second;
    for (const Call &call : calls_.at(address)) at->second.push_back(frame_of(call));
    return at->second;
}

CallSites::Site CallSites::site(trace::StackNumber stack) {
    const std::vector<const Call *> calls = calls_.of(stack);
    if (calls.empty()) return {std::nullopt, kNoStack, kNoStack};
    const std::size_t caller = library_.caller(calls);
    return {frame_of(*calls[caller]), text_of(*calls[caller]), path_text(calls, caller)};
}

std::string CallSites::caller_text(trace::StackNumber stack) {
    const std::vector<const Call *> calls = calls_.of(stack);
    return calls.empty() ? kNoStack : text_of(*calls[library_.caller(calls)]);
}

std::string CallSites::text(trace::StackNumber stack) {
    const std::vector<const Call *> calls = calls_.of(stack);
    return calls.empty() ? kNoStack : path_text(calls, library_.caller(calls));
}

std::string CallSites::text_of(const Call &call) {
    const std::string &name = name_of(call);
    if (call.file.empty()) return name;
    return has_lines_ && call.line != 0 ? fmt::format("{} ({}:{})", name, base_name(call.file), call.line)
                                        : fmt::format("{} ({})", name, base_name(call.file));
}

std::string CallSites::path_text(const std::vector<const Call *> &calls, std::size_t caller) {
    constexpr std::size_t kCalls = 4;
    std::string text;
    for (std::size_t shown = 0; shown < kCalls && shown <= caller; ++shown) {
        const Call &call = *calls[caller - shown];
        if (shown != 0) text += " < ";
        text += call.place.empty() ? name_of(call) : call.place;
        if (call.line != 0) text += fmt::format(" ({}:{})", base_name(call.file), call.line);
    }
    return text;
}

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/report/question.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gr::tool {

namespace {

// The first unit of time that is not before the moment. Edges of slices are rounded numbers: what is a unit but for that is one.
std::optional<std::uint64_t> unit_of(const std::string &text) {
    constexpr double kRounding = 1e-3;
    constexpr double kMost = 1e15;  // seconds are exact to a unit far below it
    double moment = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), moment);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    const double units = moment * (1e9 / trace::kTimeUnitNanoseconds);
    if (!(units >= 0 && units <= kMost)) return std::nullopt;
    return static_cast<std::uint64_t>(std::ceil(std::max(0.0, units - kRounding)));
}

}  // namespace

bool is_same_secret(std::string_view told, std::string_view secret) {
    unsigned difference = told.size() == secret.size() ? 0 : 1;
    for (std::size_t i = 0; i < secret.size(); ++i) {
        const char other = i < told.size() ? told[i] : '\0';
        difference |= static_cast<unsigned>(static_cast<unsigned char>(other) ^ static_cast<unsigned char>(secret[i]));
    }
    return difference == 0;
}

bool is_reader(std::string_view name) {
    constexpr std::size_t kMost = 64;
    const auto is_usual = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
    };
    return !name.empty() && name.size() <= kMost && std::ranges::all_of(name, is_usual);
}

Asked asked_for(const Parameters &parameters, trace::Time last) {
    const auto from = parameters.find("from");
    const auto to = parameters.find("to");
    if (from == parameters.end() && to == parameters.end()) return {true, std::nullopt};
    if (from == parameters.end() || to == parameters.end()) return {};
    const auto first = unit_of(from->second);
    const auto behind = unit_of(to->second);
    if (!first || !behind || *behind < *first || *first > last.units) return {};
    const std::uint64_t end = std::min(std::max(*behind, *first + 1), last.units + 1);
    if (*first == 0 && end == last.units + 1) return {true, std::nullopt};
    return {true, Window{trace::Time{*first}, trace::Time{end - 1}}};
}

}  // namespace gr::tool

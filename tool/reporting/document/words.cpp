// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/document/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.hpp"

namespace gr::tool {

namespace {

std::string three_digits(double number) {
    if (number >= 99.95) return fmt::format("{:.0f}", number);
    std::string text = number >= 9.995 ? fmt::format("{:.1f}", number) : fmt::format("{:.2f}", number);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

constexpr std::string_view kCut = "…";

// What stands between brackets, in the name's bytes.
struct Arguments {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;  // 0: there are none
};

// Of those that something can be left out of. " < " stands between calls, and is no bracket; behind a blank stands where in
// the sources a call is.
Arguments deepest_arguments(std::string_view name) {
    Arguments deepest;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const char letter = name[at];
        if (letter == '(' || (letter == '<' && at + 1 < name.size() && name[at + 1] != ' ')) open.push_back(at);
        if (letter != ')' && letter != '>') continue;
        const char opposite = letter == ')' ? '(' : '<';
        while (letter == ')' && !open.empty() && name[open.back()] != opposite) open.pop_back();
        if (open.empty() || name[open.back()] != opposite) continue;
        const std::size_t begin = open.back() + 1;
        const bool is_place = begin >= 2 && name[begin - 2] == ' ';
        if (!is_place && at - begin > kCut.size() && open.size() > deepest.depth) deepest = {begin, at, open.size()};
        open.pop_back();
    }
    return deepest;
}

constexpr double kLeast = 0.001;  // of a share that is told by its number

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }));
}

std::string count_words(double count) {
    constexpr double kMillion = 1e6;
    if (count < kMillion) {
        return count == std::floor(count) ? grouped(static_cast<std::uint64_t>(count))
               : count < 1000             ? three_digits(count)
                                          : grouped(static_cast<std::uint64_t>(std::llround(count)));
    }
    if (count < kMillion * 1000) return three_digits(count / kMillion) + " million";
    return three_digits(count / kMillion / 1000) + " billion";
}

std::string count_words(double count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count_words(count), count == 1 ? one : many);
}

std::string bytes_words(double bytes) {
    constexpr std::array<const char *, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    constexpr double kStep = 1024;
    if (bytes < kStep) return fmt::format("{} {}", three_digits(bytes), bytes == 1 ? "byte" : "bytes");
    std::size_t unit = 0;
    for (bytes /= kStep; bytes >= kStep && unit + 1 < kUnits.size(); bytes /= kStep) ++unit;
    return fmt::format("{} {}", three_digits(bytes), kUnits[unit]);
}

std::string time_words(double seconds) {
    constexpr double kMinute = 60;
    constexpr double kHour = 3600;
    if (seconds <= 0) return "0 s";
    if (seconds < 1e-6) return three_digits(seconds * 1e9) + " ns";
    if (seconds < 1e-3) return three_digits(seconds * 1e6) + " µs";
    if (seconds < 1) return three_digits(seconds * 1e3) + " ms";
    if (seconds < kMinute) return three_digits(seconds) + " s";
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (seconds < kHour) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string share_words(double part, double whole) {
    if (whole <= 0 || part <= 0) return "none";
    if (part == whole) return "all";
    const double share = part / whole;
    if (share < kLeast) return "less than 0.1 %";
    if (share > 1 - kLeast && share < 1) return "more than 99.9 %";
    return three_digits(share * 100) + " %";
}

std::string about(std::string words, bool is_estimate) {
    const bool has_number = words.front() >= '0' && words.front() <= '9';
    return is_estimate && has_number ? "about " + words : words;
}

std::string percent_words(double share) {
    if (share > 0 && share < kLeast) return "< 0.1 %";
    if (share > 1 - kLeast && share < 1) return "> 99.9 %";
    return three_digits(share * 100) + " %";
}

std::string growth_percent(double growth) {
    if (growth != 0 && std::abs(growth) < kLeast) return growth < 0 ? "> -0.1 %" : "< 0.1 %";
    const std::string text = three_digits(std::abs(growth) * 100) + " %";
    return growth < 0 ? "-" + text : text;
}

std::string short_name(std::string name, std::size_t most) {
    while (width_of(name) > most) {
        const Arguments deepest = deepest_arguments(name);
        if (deepest.depth == 0) break;
        name.replace(deepest.begin, deepest.end - deepest.begin, kCut);
    }
    if (width_of(name) <= most) return name;
    const auto is_inside_letter = [&](std::size_t at) {
        return (static_cast<unsigned char>(name[at]) & 0xc0U) == 0x80;
    };
    const std::size_t right = (most - 1) * 2 / 5;
    std::size_t begin = most - 1 - right;
    std::size_t end = name.size() - right;
    while (begin > 0 && is_inside_letter(begin)) --begin;
    while (end < name.size() && is_inside_letter(end)) ++end;
    const std::string_view all = name;
    while (all.substr(0, begin).ends_with(kCut)) begin -= kCut.size();
    while (all.substr(end).starts_with(kCut)) end += kCut.size();
    name.replace(begin, end - begin, kCut);
    return name;
}

}  // namespace gr::tool

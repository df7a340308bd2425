// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace gr::tool {

namespace {

constexpr unsigned kFirstPrintable = 0x20;
constexpr unsigned kDelete = 0x7f;

// The length of the UTF-8 sequence that text starts with; 0 when it starts with none (overlong forms and surrogates
// are none).
std::size_t utf8_length(std::string_view text) {
    struct Form {
        unsigned first_low, first_high, second_low, second_high;
        std::size_t length;
    };
    static constexpr std::array<Form, 9> kForms{{{0x00, 0x7f, 0, 0, 1},
                                                 {0xc2, 0xdf, 0x80, 0xbf, 2},
                                                 {0xe0, 0xe0, 0xa0, 0xbf, 3},
                                                 {0xe1, 0xec, 0x80, 0xbf, 3},
                                                 {0xed, 0xed, 0x80, 0x9f, 3},
                                                 {0xee, 0xef, 0x80, 0xbf, 3},
                                                 {0xf0, 0xf0, 0x90, 0xbf, 4},
                                                 {0xf1, 0xf3, 0x80, 0xbf, 4},
                                                 {0xf4, 0xf4, 0x80, 0x8f, 4}}};
    const auto byte = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const auto form =
        std::ranges::find_if(kForms, [&](const Form &f) { return byte(0) >= f.first_low && byte(0) <= f.first_high; });
    if (form == kForms.end() || text.size() < form->length) return 0;
    if (form->length > 1 && (byte(1) < form->second_low || byte(1) > form->second_high)) return 0;
    for (std::size_t index = 2; index < form->length; ++index) {
        if (byte(index) < 0x80 || byte(index) > 0xbf) return 0;
    }
    return form->length;
}

// One character, or a byte that begins none. Terminals obey the controls of C0 and C1, the latter also as a single byte,
// and marks of direction let a text look like another.
bool controls_terminal(std::string_view one) {
    constexpr unsigned kFirstC1 = 0x80;
    constexpr unsigned kLastC1 = 0x9f;
    constexpr std::array<std::string_view, 4> kDirections{"\u061c", "\u200e", "\u200f", "\ufeff"};
    const unsigned first = static_cast<unsigned char>(one.front());
    if (one.size() == 1) return first < kFirstPrintable || first == kDelete || (first >= kFirstC1 && first <= kLastC1);
    if (one.size() == 2 && first == 0xc2) return static_cast<unsigned char>(one[1]) <= kLastC1;
    const bool is_override = (one >= "\u202a" && one <= "\u202e") || (one >= "\u2066" && one <= "\u2069");
    return is_override || one == "\u2028" || one == "\u2029" ||
           std::ranges::find(kDirections, one) != kDirections.end();
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view one = text.substr(0, std::max<std::size_t>(length, 1));
        text.remove_prefix(one.size());
        if (length != 0 && !controls_terminal(one)) {
            result += one;
            continue;
        }
        for (const char byte : one)
            fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(byte));
    }
    return result;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string size_text(std::uint64_t bytes) {
    static constexpr std::string_view kUnits = "KMGTPE";
    constexpr double kStep = 1024;
    double value = static_cast<double>(bytes);
    if (value < kStep) return fmt::format("{}", bytes);
    std::size_t unit = 0;
    for (value /= kStep; value >= kStep && unit + 1 < kUnits.size(); ++unit) value /= kStep;
    std::string number = fmt::format("{:.1f}", value);
    if (number.ends_with(".0")) number.resize(number.size() - 2);
    return number + kUnits[unit];
}

std::string bytes_text(std::uint64_t bytes) {
    std::string text = size_text(bytes);
    if (text.back() < 'A') return text + " bytes";
    const char unit = text.back();
    text.pop_back();
    return fmt::format("{} {}iB", text, unit);
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string list_text(const std::vector<std::string> &items, std::size_t shown) {
    if (items.size() <= shown) return fmt::format("{}", fmt::join(items, ", "));
    const auto end = items.begin() + static_cast<std::ptrdiff_t>(shown);
    return fmt::format("{} and {} more", fmt::join(items.begin(), end, ", "), items.size() - shown);
}

void JsonWriter::separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (!first_) result_ += ',';
    first_ = false;
    if (depth_ > 0) {
        result_ += '\n';
        result_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    }
}

void JsonWriter::open(char bracket) {
    separate();
    result_ += bracket;
    ++depth_;
    first_ = true;
}

void JsonWriter::close(char bracket) {
    --depth_;
    if (!first_) {
        result_ += '\n';
        result_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    }
    result_ += bracket;
    first_ = false;
}

void JsonWriter::key(std::string_view name) {
    separate();
    escape(name);
    result_ += ": ";
    after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
    separate();
    escape(value);
}

void JsonWriter::number(std::uint64_t value) {
    separate();
    result_ += fmt::format("{}", value);
}

void JsonWriter::escape(std::string_view value) {
    result_ += '"';
    while (!value.empty()) {
        const std::size_t length = utf8_length(value);
        const unsigned code = static_cast<unsigned char>(value.front());
        if (length == 0) {
            result_ += "\\ufffd";
        } else if (value.front() == '"' || value.front() == '\\') {
            result_ += '\\';
            result_ += value.front();
        } else if (code < kFirstPrintable || code == kDelete) {
            result_ += fmt::format("\\u{:04x}", code);
        } else {
            result_ += value.substr(0, length);
        }
        value.remove_prefix(std::max<std::size_t>(length, 1));
    }
    result_ += '"';
}

}  // namespace gr::tool

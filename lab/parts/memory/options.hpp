// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator's options at run time, from one table of its own: GRANARY_LAB="f=1/8,K=0".
// Invariant: a value is in its range, whatever the text says; what cannot be used is told in one line each, and the
//    rest goes on with what stood there before.
// Must not know: what an option is for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "platform/process.hpp"

namespace gr::lab {

// A number that is a multiple of 1 / parts; the others are counted in such steps.
struct Option {
    std::string_view name;
    std::uint64_t parts;
    std::uint64_t value;
    std::uint64_t least;
    std::uint64_t most;
    std::string_view told;  // its range, for people
    bool is_power_of_two = false;

    constexpr bool takes(std::uint64_t steps) const {
        return steps >= least && steps <= most && (!is_power_of_two || std::has_single_bit(steps));
    }
    constexpr bool is_valid() const { return parts != 0 && takes(value); }
};

// A whole number of steps, written as 3, 3/8 or 0.375; false: it is none.
constexpr bool parse_steps(std::string_view text, std::uint64_t parts, std::uint64_t *steps) {
    constexpr std::uint64_t kMost = 1'000'000'000;
    std::uint64_t numerator = 0;
    std::uint64_t denominator = 1;
    char separator = 0;
    bool expects_digit = true;
    for (const char c : text) {
        if ((c == '/' || c == '.') && separator == 0 && !expects_digit) {
            separator = c;
            expects_digit = true;
            if (c == '/') denominator = 0;
            continue;
        }
        if (c < '0' || c > '9') return false;
        expects_digit = false;
        std::uint64_t &number = separator == '/' ? denominator : numerator;
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
        if (separator == '.') denominator *= 10;
        if (numerator > kMost || denominator > kMost) return false;
    }
    if (expects_digit || denominator == 0 || numerator * parts % denominator != 0) return false;
    *steps = numerator * parts / denominator;
    return true;
}

class OptionReader {
  public:
    explicit OptionReader(std::span<Option> options) : options_(options) {}

    void read_environment() const {
        if (const char *const settings = platform::variable("GRANARY_LAB")) read(settings);
    }
    void read(std::string_view text) const {
        while (!text.empty()) {
            const std::string_view setting = before(text, ',');
            if (!setting.empty()) set(setting);
            text.remove_prefix(std::min(text.size(), setting.size() + 1));
        }
    }

  private:
    // substr could throw.
    static std::string_view before(std::string_view text, char end) {
        return {text.data(), std::min(text.find(end), text.size())};
    }
    void set(std::string_view setting) const {
        const std::string_view name = before(setting, '=');
        const auto found = std::ranges::find(options_, name, &Option::name);
        Option *const option = found == options_.end() ? nullptr : &*found;
        std::string_view number = setting;
        number.remove_prefix(std::min(number.size(), name.size() + 1));
        std::uint64_t steps = 0;
        if (option != nullptr && parse_steps(number, option->parts, &steps) && option->takes(steps))
            option->value = steps;
        else
            refuse(setting, option);
    }
    void refuse(std::string_view setting, const Option *option) const {
        char shown[48];
        const std::size_t size = std::min(setting.size(), sizeof shown);
        std::memcpy(&shown[0], setting.data(), size);
        make_printable(&shown[0], size);
        TextBuffer<256> line;
        line << "granary: GRANARY_LAB: '" << std::string_view(&shown[0], size) << "': ";
        if (option != nullptr) {
            line << "must be " << option->told << "; ignored";
        } else {
            line << "not an option of this allocator; the options are";
            for (const Option &o : options_) line << ' ' << o.name;
        }
        line << '\n';
        platform::write_all(2, line.data(), line.size());
    }

    std::span<Option> options_;
};

}  // namespace gr::lab

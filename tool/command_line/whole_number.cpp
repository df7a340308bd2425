// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "command_line/whole_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#include "base/text.hpp"

namespace gr::tool {

CLI::Validator positive_whole_number() {
    static constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();  // as of process ids
    const auto check = [](const std::string &text) {
        std::int32_t number = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (failure == std::errc() && end == text.data() + text.size() && number > 0) return std::string();
        return fmt::format("{} is no whole number from 1 to {}", in_quotes(text), kMost);
    };
    return {check, ""};
}

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: numbers in sentences.
// Invariant: three digits that count, and the unit that reads well; counts below a million are exact.
// Must not know: what the numbers are about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gr::tool {

// "199,263", "12.4 million".
[[nodiscard]] std::string count_words(double count);
// "1 block", "2 blocks".
[[nodiscard]] std::string count_words(double count, std::string_view one, std::string_view many);
// "512 bytes", "1.5 MiB".
[[nodiscard]] std::string bytes_words(double bytes);
// "100 ns", "3.2 ms", "2 min 5 s".
[[nodiscard]] std::string time_words(double seconds);
// "12 %", "less than 0.1 %", "all".
[[nodiscard]] std::string share_words(double part, double whole);

// "about 12 %", where the number is an estimate. Words without a number stay as they are.
[[nodiscard]] std::string about(std::string words, bool is_estimate);

// In a table: "12 %", "< 0.1 %", "> 99.9 %": the same limits.
[[nodiscard]] std::string percent_words(double share);

// Of what was there before: "12 %", "-100 %", "300 %"; "< 0.1 %", "> -0.1 %".
[[nodiscard]] std::string growth_percent(double growth);

// Letters, not bytes, of UTF-8.
[[nodiscard]] std::size_t width_of(std::string_view text);

// A name that is longer than that is cut: first arguments of templates and functions, the innermost first, then the middle.
// Files and lines behind it, as in "main (main.cpp:3)", are not taken for arguments.
[[nodiscard]] std::string short_name(std::string name, std::size_t most);

// 0 where there is no whole.
[[nodiscard]] constexpr double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace gr::tool

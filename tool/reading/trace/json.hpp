// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the parts of a trace that are JSON, to text and back; and a sample as a row of numbers.
// Invariant: each pair of functions knows the same names, those of docs/design/trace-format.md. What a text lacks stays
//    as it is by default; a text that is no such thing throws Damage.
// Must not know: how chunks lie in a file.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reading/trace/contents.hpp"

namespace gr::trace {

[[nodiscard]] std::string to_json(const Start &start);
[[nodiscard]] std::string to_json(std::span<const Thread> threads);
[[nodiscard]] std::string to_json(const ModuleList &list);
[[nodiscard]] std::string to_json(std::span<const Mark> marks);
[[nodiscard]] std::string names_to_json(std::span<const std::string> names);
[[nodiscard]] std::string to_json(const Relative &relative);
[[nodiscard]] std::string to_json(const End &end);

void from_json(std::string_view text, Start *start);
void from_json(std::string_view text, std::vector<Thread> *threads);  // adds them
void from_json(std::string_view text, std::vector<ModuleList> *lists);
void from_json(std::string_view text, std::vector<Mark> *marks);
void from_json(std::string_view text, std::vector<std::string> *names);
void from_json(std::string_view text, std::vector<Relative> *relatives);
void from_json(std::string_view text, End *end);

// In the order of SampleColumn.
[[nodiscard]] std::array<std::uint64_t, kSampleColumns> row_of(const Sample &sample);
[[nodiscard]] Sample sample_of(const std::array<std::uint64_t, kSampleColumns> &row);

}  // namespace gr::trace

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a collector's last collection and its next, in words.
// Invariant: what does not hold of the process is not said.
// Must not know: how anything was found; how text is laid out.
#pragma once

#include <string>
#include <string_view>

#include "commands/why/why.hpp"

namespace gr::tool {

// One paragraph, of a process that has a collector.
[[nodiscard]] std::string collections_text(const Explanation &explanation);

// For programs.
[[nodiscard]] std::string_view reason_word(Reason reason);
[[nodiscard]] std::string_view contents_word(Contents contents);
[[nodiscard]] std::string_view lifetime_word(Lifetime lifetime);
[[nodiscard]] bool is_for_leaks(const Explanation &explanation);

}  // namespace gr::tool

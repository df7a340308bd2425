// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: who holds a process's memory, for people and for programs.
// Invariant: text and JSON tell the same; no line of the text is wider than the terminal, and none of it is a control
//    character.
// Must not know: where the sums come from.
#pragma once

#include <cstddef>
#include <string>

#include "commands/top/holders.hpp"

namespace gr::tool {

struct Screen {
    std::size_t rows = 0;  // of holders, at most
    std::size_t columns = 0;
    bool has_whole_names = false;  // of functions
};

[[nodiscard]] std::string top_text(const Holders &holders, const Screen &screen);
[[nodiscard]] std::string top_json(const Holders &holders);

}  // namespace gr::tool

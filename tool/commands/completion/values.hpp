// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what may stand for a value or an operand, by the name that the help gives it.
// Invariant: a name in lower case stands for itself, as each of "peak|end|total" does.
// Must not know: any shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gr::tool {

struct Values {
    bool files = false;
    bool programs = false;
    bool processes = false;
    std::vector<std::string> words;
};

// "FILE", "PROGRAM|PID", "NAME|PATH.so,...", "peak|end|total". No member is set where only the user knows the value.
[[nodiscard]] Values values_of(std::string_view name);

// 'text', for both shells.
[[nodiscard]] std::string shell_quoted(std::string_view text);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which file a command word means, and which file the kernel ends up loading for it (scripts name another).
// Invariant: looks where execvp(3) looks, in its order.
// Must not know: ELF's inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gr::tool {

// The path of the program called name: itself when it has a slash, else the first executable on PATH. Throws Failure
// (kNotFound) when there is none.
[[nodiscard]] std::string find_program(const std::string &name);

// The words of a script's first line (without "#!"): the interpreter and at most one argument, as Linux splits it.
[[nodiscard]] std::vector<std::string> script_words(std::string_view line);

// The program that a script's first line runs in the end: env(1)'s operand when the interpreter is env, else the
// interpreter. Empty when the line names none.
[[nodiscard]] std::string script_program(std::string_view line);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the command says: results on stdout, complaints on stderr.
// Invariant: what is printed has left this process, or a Failure says why not.
// Must not know: what it is about.
#pragma once

#include <string_view>

namespace gr::tool {

// Throws Failure when it cannot be written.
void print(std::string_view text);

// One line on stderr, after the command's name. When stderr is closed or full there is nobody left to tell.
void complain(std::string_view line);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary options: the library's own table of options, printed by the library itself.
// Invariant: there is one table, and it is the library's; so this command starts itself again with the library loaded.
// Must not know: any option.
#pragma once

#include <string>

namespace gr::tool {

// Starts this command again under the library with the given arguments. Throws Failure.
[[noreturn]] void restart_under_library(const std::string &library, bool json);

// Called there: prints the table. Throws Failure when the library is not Granary.
void print_options(bool json);

// The hidden flag that tells the second start from the first.
inline constexpr const char *kUnderLibraryFlag = "--under-library";

}  // namespace gr::tool

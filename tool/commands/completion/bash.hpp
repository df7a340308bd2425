// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the script by which bash completes a command line of granary.
// Invariant: the script needs no other file, and does not start granary.
// Must not know: any command; the table has them all.
#pragma once

#include <string>

#include "command_line/option_table.hpp"

namespace gr::tool {

[[nodiscard]] std::string bash_script(const CommandTable &table);

}  // namespace gr::tool

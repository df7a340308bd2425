// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options by which a user says how functions are told apart.
// Invariant: summary, report and diff have all of them.
// Must not know: the commands.
#pragma once

#include <CLI/CLI.hpp>

#include "reporting/charts/call_sites.hpp"

namespace gr::tool {

void add_naming(CLI::App &options, Naming *naming);

// That one of them which leaks and top have, too.
void add_whole_names(CLI::App &options, bool *whole_names);

}  // namespace gr::tool

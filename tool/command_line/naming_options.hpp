// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options by which a user says how functions are told apart.
// Invariant: summary, report and diff have all of them.
// Must not know: the commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "reporting/charts/call_sites.hpp"

namespace gr::tool {

void add_naming(CLI::App &options, Naming *naming);

// Of them leaks has the last, top the first and the last.
void add_wrappers(CLI::App &options, std::vector<std::string> *wrappers);
void add_whole_names(CLI::App &options, bool *whole_names);

}  // namespace gr::tool

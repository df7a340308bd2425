// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary report on the command line.
// Invariant: none of its own.
// Must not know: any other command.
#pragma once

namespace gr::tool {

class CommandLine;
void add_report(CommandLine &line);

}  // namespace gr::tool

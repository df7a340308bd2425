// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary lab on the command line.
// Invariant: adding it does nothing else.
// Must not know: any other command.
#pragma once

namespace gr::tool {

class CommandLine;

void add_lab(CommandLine &line);

}  // namespace gr::tool

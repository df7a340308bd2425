// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary replay on the command line.
// Invariant: see command.cpp.
// Must not know: any other command.
#pragma once

namespace gr::tool {

class CommandLine;
void add_replay(CommandLine &line);

}  // namespace gr::tool

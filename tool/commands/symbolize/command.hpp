// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary symbolize on the command line.
// Invariant: none of its own.
// Must not know: any other command.
#pragma once

namespace gr::tool {

class CommandLine;
void add_symbolize(CommandLine &line);

}  // namespace gr::tool

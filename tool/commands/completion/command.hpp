// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary completion on the command line.
// Invariant: adding it does nothing else.
// Must not know: any other command.
#pragma once

namespace gr::tool {

class CommandLine;

void add_completion(CommandLine &line);

}  // namespace gr::tool

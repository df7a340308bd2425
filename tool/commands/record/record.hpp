// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary record: starts a program, and writes down what it and its children do with memory.
// Invariant: the program runs as it would without; whatever becomes of the recorder, it does not wait for ever.
// Must not know: how the command line was parsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/record/shared_recording.hpp"

namespace gr::tool {

struct RecordRequest {
    std::vector<std::string> command;  // the program and its arguments; not empty
    std::string file;                  // "": a name is made
    std::string allocator = "system";
    std::vector<std::string> only;  // names of the programs to record; empty: all
    RecordingSettings settings;
    bool keeps_small = false;  // traces of few events, of which there are many
    bool embeds_symbols = false;
    bool quiet = false;
};

// The code to exit with: the program's. Throws Failure.
[[nodiscard]] int record_program(const RecordRequest &request);

}  // namespace gr::tool

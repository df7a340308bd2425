// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary record: starts a program, or goes to a process that runs, and writes down what it and its children do with
//    memory.
// Invariant: the program runs as it would without; whatever becomes of the recorder, it does not wait for ever.
// Must not know: how the command line was parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/record/shared_recording.hpp"

namespace gr::tool {

struct RecordRequest {
    std::vector<std::string> command;      // the program and its arguments
    std::uint32_t process = 0;             // or a process that runs already
    std::optional<std::uint32_t> seconds;  // how long the process is recorded
    std::string file;                      // "": a name is made
    std::string allocator = "system";
    std::vector<std::string> only;  // names of the programs to record; empty: all
    RecordingSettings settings;
    bool keeps_small = false;  // traces of few events, of which there are many
    bool embeds_symbols = false;
    bool quiet = false;
};

// The code to exit with: the program's. Throws Failure.
[[nodiscard]] int record_program(const RecordRequest &request);
// 0, once the recording was ended or the process has ended. Throws Failure.
[[nodiscard]] int record_process(const RecordRequest &request);

}  // namespace gr::tool

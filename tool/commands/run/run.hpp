// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary run: becomes the program, with Granary in front of its libraries, or in place of its libgc; or with
//    another allocator.
// Invariant: the process is replaced, so exit code, signals, descriptors and the parent stay the program's own.
// Must not know: how the command line was parsed.
#pragma once

#include <string>
#include <vector>

namespace gr::tool {

struct RunRequest {
    std::vector<std::string> command;   // the program and its arguments; not empty
    std::vector<std::string> settings;  // NAME=VALUE, for GRANARY_NAME
    std::string stats;                  // "", "text", "json" or "prometheus"
    std::string library;                // "": find it
    std::string allocator;              // "": Granary
    bool no_rseq = false;
    bool collector = false;  // for programs of libgc, in place of malloc
    bool collecting_malloc = false;
    bool quarantine = false;
    bool junk = false;
    bool quiet = false;
};

// Throws Failure; does not return otherwise.
[[noreturn]] void run_program(const RunRequest &request);

}  // namespace gr::tool

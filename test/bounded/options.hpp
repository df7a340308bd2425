// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the command line of every program here: --steps, --seconds, --threads.
// Invariant: --seconds outweighs --steps.
// Must not know: what a step is.
#pragma once

#include "program_options.hpp"

namespace gr::test {

struct Options {
    size_t steps;
    size_t threads;
    unsigned seconds = 0;

    // Returns false when the program is to end with `status` (after --help, or a mistake).
    bool parse(const char *what, int argc, char **argv, int &status) {
        gr::bench::Options options(what);
        options.number("--steps", steps, "how long to run, in steps; a multiple of ten");
        options.number("--threads", threads, "other threads", {1, 64});
        options.number("--seconds", seconds, "run so long instead, for a soak");
        const bool right = options.parse(argc, argv);
        status = options.exit_code();
        return right;
    }
};

}  // namespace gr::test

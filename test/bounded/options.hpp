// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      the command line of every program here: --steps, --seconds, --threads.
// Invariant: --seconds outweighs --steps.
// Must not know: what a step is.
#pragma once

#include <CLI/CLI.hpp>

namespace gr::test {

struct Options {
    size_t steps;
    size_t threads;
    unsigned seconds = 0;

    // Returns false when the program is to end with `status` (after --help, or a mistake).
    bool parse(const char *what, int argc, char **argv, int &status) {
        CLI::App app(what);
        app.add_option("--steps", steps, "how long to run, in steps; a multiple of ten");
        app.add_option("--threads", threads, "other threads")->check(CLI::Range(1, 64));
        app.add_option("--seconds", seconds, "run so long instead, for a soak");
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError &error) {
            status = app.exit(error);
            return false;
        }
        return true;
    }
};

}  // namespace gr::test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: options that a program has, for a library that allocates before the program is relocated.
// Invariant: at the end the program prints the option that it has.
// Must not know: which malloc there is.
#include "black_box.hpp"

const char *gr_options = "RETAIN=3M";

[[gnu::destructor]] static void tell() {
    char value[32] = "";
    GR_REQUIRE(gr_option_get("RETAIN", value, sizeof value) > 0);
    gr::black_box::say(STDOUT_FILENO, "RETAIN=%s\n", value);
}

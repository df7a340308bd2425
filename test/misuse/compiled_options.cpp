// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: options that a program is compiled with, one of them wrong.
// Invariant: nothing but the variable's name tells the library of it.
// Must not know: the program.
extern const char *gr_options;
const char *gr_options = "retain=3M; LIMIT = 1G,2G\nGRANARY_DIRECT=8M;# a comment; FOO=1; reuse=4M; junk=allocate";

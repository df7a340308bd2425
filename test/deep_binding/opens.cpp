// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: opens the library that is its argument with RTLD_DEEPBIND, and ends.
// Invariant: nothing crosses.
// Must not know: what is said meanwhile.
#include <dlfcn.h>

int main(int argc, char **argv) { return argc == 2 && dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND) != nullptr ? 0 : 1; }

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library with a variable, and a function that loses a block, to be loaded and unloaded.
// Invariant: it keeps one pointer, which is nowhere else.
// Must not know: who loads it.
#include <cstdlib>
#include <cstring>

static void *only;

extern "C" void keep(void *p) { only = p; }
extern "C" void *kept() { return only; }
extern "C" [[gnu::noinline]] void seed_library_1_0() { memset(malloc(123), 1, 123); }

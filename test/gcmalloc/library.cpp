// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a library with a variable, to be loaded and unloaded.
// Invariant: it keeps one pointer, where nobody else does.
// Must not know: who loads it.
static void *only;

extern "C" void keep(void *p) { only = p; }
extern "C" void *kept() { return only; }

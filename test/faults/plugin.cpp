// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library to be loaded late, with some address space of its own.
// Invariant: none.
// Must not know: who loads it.

namespace {
char room[256 * 1024];
}

extern "C" char *granary_test_room() { return &room[0]; }

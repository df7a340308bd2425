// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's incremental mode: a collection that is due runs while the program runs.
// Invariant: if the kernel cannot report which pages were written, one warning says so, and each collection stops the
//    program.
// Must not know: how objects are collected.
#pragma once

namespace gr {

// Does nothing while leaks are searched, or if the environment forbids it. The caller holds the lock, and the library is
// initialised.
void begin_incremental();
// Likewise, minor collections come before a collection that is due.
void begin_generational();

}  // namespace gr

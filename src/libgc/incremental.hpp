// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's incremental mode: collections that are due are made beside the program.
// Invariant: where the kernel cannot tell what is written, a warning says so once, and each collection stops the
//    program.
// Must not know: how it is collected.
#pragma once

namespace gr {

// Not while leaks are looked for, nor where the environment forbids it. Under the lock, of an initialised library.
void begin_incremental();
// Likewise, minor collections come before a collection that is due.
void begin_generational();

}  // namespace gr

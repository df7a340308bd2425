// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the process's part asks of the allocator that this library was built for.
// Invariant: one library has one allocator.
// Must not know: which allocator, and libc's names for what it does.
#pragma once

namespace gr::lab {

// Once, before the second thread: from then on the allocator learns of threads that end.
void start();

// For fork; they may nest, as where a handler that interrupts fork forks. A handler that interrupted the allocator locks
// nothing. The child of such a fork may call what POSIX allows a signal handler to call: neither malloc nor free, and it
// may not return into the interrupted call, which may wait for a lock whose holder the child does not have.
void lock();
void unlock();

}  // namespace gr::lab

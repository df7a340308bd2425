/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a library with thread-local places in the space that each thread has from its start.
 * Invariant: nothing in it refers to the collector, nor to the blocks of thread-local variables that come later.
 * Must not know: who loads it.
 */
static __thread void *volatile thread_local_places[32] __attribute__((tls_model("initial-exec")));

void library_put_thread_local(int i, void *object) { thread_local_places[i] = object; }

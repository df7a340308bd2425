/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a library with more thread-local storage than lies mapped behind any small block.
 * Invariant: nothing in it refers to the collector.
 * Must not know: who loads it.
 */
static __thread volatile char large[512 << 20];

void library_touch(void) { large[0] = 1; }

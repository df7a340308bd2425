/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a library with places to keep pointers: data, bss, thread-local.
 * Invariant: nothing in it refers to the collector.
 * Must not know: who loads it.
 */
/* Data needs a value that is not zero. */
void *volatile library_data[32] = {(void *)1};
void *volatile library_bss[32];
static __thread void *volatile thread_local_places[32];

void library_put_thread_local(int i, void *object) { thread_local_places[i] = object; }

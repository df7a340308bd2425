// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: thread-local data as Boehm builds it without help from compiler or library: a table of threads by their
//    id, and before it a cache by the high bits of the stack pointer.
// Invariant: a thread's entry is found in the cache only under the stack page that it wrote itself. Entries are never
//    freed: readers take no lock (Boehm lets his collector reclaim them).
// Must not know: how long it takes.
#pragma once

#include "way.hpp"

namespace gr::bench::stack_hash {

Identity get();
void set(Identity identity);
// The table itself, as when the cache misses.
Identity get_slowly();

}  // namespace gr::bench::stack_hash

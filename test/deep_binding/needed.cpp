// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that only the plugin needs, found by the plugin's own search path.
// Invariant: it allocates while it is loaded, before dlopen has returned.
// Must not know: who frees what it allocates.
#include <cstdlib>

namespace {

struct Start {
    void *block = std::malloc(100);
};
Start start;

}  // namespace

extern "C" void *needed_made_at_start() { return start.block; }
extern "C" void *needed_allocate(std::size_t size) { return std::malloc(size); }

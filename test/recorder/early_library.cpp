// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that allocates while the loader relocates its user: another library, before what was preloaded.
// Invariant: what it got then is of 77 bytes, and can be freed later.
// Must not know: what records it.
#include <cstdlib>

extern "C" {

[[gnu::visibility("hidden")]] void *volatile kept = nullptr;

int resolved_value() { return 7; }

[[gnu::used]] int (*resolve_early())() {
    void *volatile p = calloc(3, 33);
    p = realloc(p, 200);
    free(p);
    kept = malloc(77);
    return &resolved_value;
}

[[gnu::ifunc("resolve_early")]] int resolved_early();

void *take_early_block() { return kept; }

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the slow paths that the assembly entries jump to, and the library's own names of malloc, new and free.
// Invariant: a slow path starts over from its arguments; the fast path has changed nothing.
// Must not know: the assembly.
#pragma once

#include <cstddef>

#include "granary/malloc.h"

extern "C" {
// malloc, operator new and free, under names that no program defines.
[[gnu::visibility("hidden")]] void *gr_own_malloc(std::size_t size);
[[gnu::visibility("hidden")]] void *gr_new(std::size_t size);
[[gnu::visibility("hidden")]] void gr_own_free(void *p);

void *gr_malloc_slow(std::size_t size);
void *gr_new_slow(std::size_t size);
void gr_free_slow(void *p);
}

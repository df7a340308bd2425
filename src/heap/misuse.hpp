// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the error message about a block that may not be freed, or a heap that may not be destroyed: one line on stderr,
//    then abort.
// Invariant: never returns, never allocates.
// Must not know: how the misuse was found.
#pragma once

#include <cstddef>

namespace gr {

[[noreturn]] void die_foreign(const char *function, const void *p);
[[noreturn]] void die_interior(const char *function, const void *p, const void *start, std::size_t size);
[[noreturn]] void die_free(const char *function, const void *p, std::size_t size);
[[noreturn]] void die_twice(const char *function, const void *p, std::size_t size);

// A block of another instance.
[[noreturn]] void die_of_malloc(const char *function, const void *p);
[[noreturn]] void die_of_first_class(const char *function, const void *p);

// Not a first-class heap, or a heap that may not be destroyed now.
[[noreturn]] void die_no_heap(const char *function, const void *heap);
[[noreturn]] void die_interrupted(const char *function, const void *heap);

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the last words about a pointer that may not be freed: one line on stderr, then abort.
// Invariant: never returns, never allocates.
// Must not know: how the misuse was found.
#pragma once

#include <cstddef>

namespace gr {

[[noreturn]] void die_foreign(const char *function, const void *p);
[[noreturn]] void die_interior(const char *function, const void *p, const void *start, std::size_t size);
[[noreturn]] void die_twice(const char *function, const void *p, std::size_t size);

}  // namespace gr

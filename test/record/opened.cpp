// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that a program opens while it is recorded.
// Invariant: it is found by the folder that the program names for its own libraries, and by nothing else.
// Must not know: what records it.
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] void opened(long count);

extern "C" void opened(long count) {
    constexpr std::size_t kCounted = 4321;
    for (long i = 0; i < count; ++i) {
        void *volatile p = std::malloc(kCounted);
        std::free(p);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the known calls main, outer, middle (inlined), innermost, malloc in C++, of a namespace and a template.
// Invariant: a line that calls the next function says in which function it is.
// Must not know: how names are found.
#include <cstdlib>

namespace chain {

template <class T>
struct Pool {
    __attribute__((noinline)) static void *innermost(unsigned long count) {
        void *const block = std::malloc(count * sizeof(T));  // in innermost
        *static_cast<volatile char *>(block) = 1;
        return block;
    }
};

inline __attribute__((always_inline)) void *middle(unsigned long count) {
    void *const block = Pool<long>::innermost(count + 3);  // in middle
    *static_cast<volatile char *>(block) = 2;
    return block;
}

__attribute__((noinline)) void *outer(unsigned long count) {
    void *const block = middle(count * 2);  // in outer
    *static_cast<volatile char *>(block) = 3;
    return block;
}

}  // namespace chain

int main() {
    for (unsigned long i = 0; i < 64; ++i) {
        void *const block = chain::outer(1000 + i);  // in main
        std::free(block);
    }
    return 0;
}

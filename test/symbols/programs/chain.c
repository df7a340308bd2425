// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the known calls main, outer, middle (inlined), innermost, malloc in C.
// Invariant: a line that calls the next function says in which function it is.
// Must not know: how names are found.
#include <stdlib.h>

__attribute__((noinline)) void *innermost(unsigned long bytes) {
    char *const block = malloc(bytes);  // in innermost
    *(volatile char *)block = 1;
    return block;
}

inline __attribute__((always_inline)) void *middle(unsigned long bytes) {
    char *const block = innermost(bytes + 3);  // in middle
    *(volatile char *)block = 2;
    return block;
}

__attribute__((noinline)) void *outer(unsigned long bytes) {
    char *const block = middle(bytes * 2);  // in outer
    *(volatile char *)block = 3;
    return block;
}

int main(void) {
    for (unsigned long i = 0; i < 64; ++i) {
        void *const block = outer(1000 + i);  // in main
        free(block);
    }
    return 0;
}

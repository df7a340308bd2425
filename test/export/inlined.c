// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program whose only allocation lies in a function that the compiler puts into two others.
// Invariant: outer is called, and calls malloc itself.
// Must not know: who records it.
#include <stdlib.h>

#define INTO_ITS_CALLER static inline __attribute__((always_inline))

INTO_ITS_CALLER void *inner(size_t bytes) { return malloc(bytes); }
INTO_ITS_CALLER void *middle(size_t bytes) { return inner(bytes); }

__attribute__((noinline)) void *outer(size_t bytes) {
    void *block = middle(bytes);
    __asm__ volatile("" ::"r"(block) : "memory");
    return block;
}

int main(void) { return outer(12345) == NULL; }

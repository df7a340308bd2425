// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the known calls main of Go and, by cgo, outer, middle (inlined), innermost, malloc of C.
// Invariant: a line that calls the next function says in which function it is.
// Must not know: how names are found.
package main

/*
#include <stdlib.h>

__attribute__((noinline)) void *innermost(unsigned long bytes) {
    char *const block = malloc(bytes); // in innermost
    *(volatile char *)block = 1;
    return block;
}

static inline __attribute__((always_inline)) void *middle(unsigned long bytes) {
    char *const block = innermost(bytes + 3); // in middle
    *(volatile char *)block = 2;
    return block;
}

__attribute__((noinline)) void *outer(unsigned long bytes) {
    char *const block = middle(bytes * 2); // in outer
    *(volatile char *)block = 3;
    return block;
}
*/
import "C"

func main() {
	for i := 0; i < 64; i++ {
		block := C.outer(C.ulong(1000 + i)) // in main
		C.free(block)
	}
}

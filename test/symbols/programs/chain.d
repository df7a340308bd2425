// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the known calls main, outer, middle (inlined), innermost, malloc in D, of a module and a template.
// Invariant: a line that calls the next function says in which function it is.
// Must not know: how names are found.
module chain;

import core.stdc.stdlib : free, malloc;

struct Pool(T) {
    pragma(inline, false) static void* innermost(size_t count) {
        void* block = malloc(count * T.sizeof); // in innermost
        *cast(byte*) block = 1;
        return block;
    }
}

pragma(inline, true) void* middle(size_t count) {
    void* block = Pool!long.innermost(count + 3); // in middle
    *cast(byte*) block = 2;
    return block;
}

pragma(inline, false) void* outer(size_t count) {
    void* block = middle(count * 2); // in outer
    *cast(byte*) block = 3;
    return block;
}

void main() {
    foreach (i; 0 .. 64) {
        void* block = outer(1000 + i); // in main
        free(block);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: GC_free and the functions that allocate from the standard kinds, aarch64: the slow paths, which call the
//    sequences.
// Invariant: no code of its own.
// Must not know: what the slow paths do.

    .hidden gr_gc_malloc_slow, gr_gc_malloc_atomic_slow, gr_gc_free_slow
    .hidden gr_gc_malloc_uncollectable_slow, gr_gc_malloc_atomic_uncollectable_slow

.macro LEADS name, to
    .p2align 6
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    b \to
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
LEADS GC_malloc, gr_gc_malloc_slow
LEADS GC_malloc_atomic, gr_gc_malloc_atomic_slow
LEADS GC_malloc_uncollectable, gr_gc_malloc_uncollectable_slow
LEADS GC_malloc_atomic_uncollectable, gr_gc_malloc_atomic_uncollectable_slow
LEADS GC_free, gr_gc_free_slow

#include "libgc/entry_names.inc"

    .section .note.GNU-stack, "", %progbits

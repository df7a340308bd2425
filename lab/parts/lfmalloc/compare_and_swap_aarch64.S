// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the aarch64 sequence that compares and swaps a word of one CPU. C++ declares it in compare_and_swap.hpp.
// Invariant: one committing store, the last instruction before .L*_commit; nothing is written before it.
// Must not know: what the word is for.

#include "platform/rseq/macros_aarch64.inc"

#define SWAPPED 1
#define INTERRUPTED 2

    .text

// Swap gr_lab_compare_and_swap(u32 cpu, u64 *word, u64 expected, u64 desired)
    .hidden gr_lab_compare_and_swap
FUNCTION gr_lab_compare_and_swap
    STATE
    BEGIN lab_compare_and_swap
    ldr w13, [x11, #CPU_ID]
    cmp w13, w0
    b.ne .Lrefused
    ldr x14, [x1]
    cmp x14, x2
    b.ne .Lrefused
    STEP
    str x3, [x1]
.Llab_compare_and_swap_commit:
    mov w0, #SWAPPED
    ret
.Lrefused:
    mov w0, #0
    ret
END gr_lab_compare_and_swap
DESCRIBE lab_compare_and_swap, .Linterrupted
.Linterrupted:
    mov w0, #INTERRUPTED
    ret

    .section .note.GNU-stack, "", %progbits

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the x86-64 sequence that compares and swaps a word of one CPU. C++ declares it in compare_and_swap.hpp.
// Invariant: one committing store, the last instruction before .L*_commit; nothing is written before it.
// Must not know: what the word is for.

#include "platform/rseq/macros_x86_64.inc"

#define SWAPPED 1
#define INTERRUPTED 2

    .text

// Swap gr_lab_compare_and_swap(u32 cpu, u64 *word, u64 expected, u64 desired)
    .hidden gr_lab_compare_and_swap
FUNCTION gr_lab_compare_and_swap
    BEGIN lab_compare_and_swap, %rax
    cmpl %fs:CPU_ID(%r8), %edi
    jne .Lrefused
    cmpq %rdx, (%rsi)
    jne .Lrefused
    STEP
    movq %rcx, (%rsi)
.Llab_compare_and_swap_commit:
    movl $SWAPPED, %eax
    ret
.Lrefused:
    xorl %eax, %eax
    ret
END gr_lab_compare_and_swap
DESCRIBE lab_compare_and_swap, .Linterrupted
.Linterrupted:
    movl $INTERRUPTED, %eax
    ret

    .section .note.GNU-stack, "", @progbits

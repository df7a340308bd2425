// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the x86-64 sequences that C++ calls: pop, push, push_n, pop_n, push_each, replace. Their C++ twins:
//    reference.hpp. `slabs` points to the variable that holds the address of the slabs.
// Invariant: each sequence has one committing store, the last instruction before .L*_commit. Before it, nothing is
//    written that others can see, except slots above `current`.
// Must not know: size classes and heaps.

#include "platform/rseq/macros_x86_64.inc"

    .text

// void *gr_sequence_pop(u32 header, char *const *slabs)
    .hidden gr_sequence_pop
FUNCTION gr_sequence_pop
    xorl %eax, %eax
    BEGIN pop, %rdx
    cmpl $0, %fs:CPU_ID(%r8)
    js 9f
    movl %fs:(%r9), %ecx
    shlq $SLAB_SHIFT, %rcx
    addq (%rsi), %rcx
    addq %rdi, %rcx
    STEP
    movl (%rcx), %edx
    movq LAST_SLOT(%rcx,%rdx,8), %rax
    testq %rax, %rax
    jz 9f
    decl %edx
    STEP
    movl %edx, (%rcx)
.Lpop_commit:
9:  ret
END gr_sequence_pop
DESCRIBE pop, .Lpop_aborted
.Lpop_aborted:
    xorl %eax, %eax
    ret

// bool gr_sequence_push(void *block, u64 entry, char *const *slabs, u64 bytes, u64 *counter): does what free does, on
// any slabs; then a second sequence counts.
    .hidden gr_sequence_push
FUNCTION gr_sequence_push
    movq %rcx, %r10
    movq %r8, %r11
    BEGIN push, %rcx
    cmpl $0, %fs:CPU_ID(%r8)
    js .Lrefuse_push
    cmpl %esi, %fs:(%r9)
    jne gr_sequence_push_remote
    shrq $32, %rsi
    addq (%rdx), %rsi
    PUSH %rsi, .Lrefuse_push
.Lpush_commit:
.Lcount:
    COUNT count, %r10, %r11
    movl $1, %eax
    ret
END gr_sequence_push
DESCRIBE push, .Lrefuse_push
DESCRIBE count, .Lcount_aborted
.Lrefuse_push:
    xorl %eax, %eax
    ret
.Lcount_aborted:
    lock addq %r10, (%r11)
    movl $1, %eax
    ret

// The block of another owner.
    .hidden gr_sequence_push_remote
FUNCTION gr_sequence_push_remote
    shrq $32, %rsi
    andl $SLAB_MASK, %esi
    leal -HEADER_SIZE(%rsi), %esi
    cmpl $(REMOTE_HEADERS - HEADER_SIZE), %esi
    ja .Lrefuse_push
    BEGIN push_remote, %rcx
    cmpl $0, %fs:CPU_ID(%r8)
    js .Lrefuse_push
    movl %fs:(%r9), %esi
    shlq $SLAB_SHIFT, %rsi
    addq (%rdx), %rsi
    addq $REMOTE, %rsi
    PUSH %rsi, .Lrefuse_push
.Lpush_remote_commit:
    jmp .Lcount
END gr_sequence_push_remote
DESCRIBE push_remote, .Lrefuse_push

// Enters and checks the cid (edi), then leaves the header's address in rax. Clobbers r8, r9, r11.
.macro HEADER name, slabs
    movq \slabs, %r11
    BEGIN \name, %rax
    cmpl $0, %fs:CPU_ID(%r8)
    js 8f
    cmpl %edi, %fs:(%r9)
    jne 8f
    movl %edi, %eax
    shlq $SLAB_SHIFT, %rax
    addq (%r11), %rax
    addq %rsi, %rax
    STEP
.endm

// Copies r11 words, one at least. Clobbers rcx, r10, xmm0.
.macro COPY from, to
    xorl %r10d, %r10d
    testl $1, %r11d
    jz 1f
    movq (\from), %rcx
    movq %rcx, (\to)
    STEP
    incl %r10d
    cmpl %r11d, %r10d
    jae 2f
1:  movups (\from,%r10,8), %xmm0
    movups %xmm0, (\to,%r10,8)
    STEP
    addl $2, %r10d
    cmpl %r11d, %r10d
    jb 1b
2:
.endm

// i64 gr_sequence_push_n(u32 cid, u32 header, void *const *blocks, u32 count, char *const *slabs)
    .hidden gr_sequence_push_n
FUNCTION gr_sequence_push_n
    movl %esi, %esi
    HEADER push_n, %r8
    movl (%rax), %r10d
    movzwl LIMIT(%rax), %r11d
    subl %r10d, %r11d
    jle 7f
    cmpl %ecx, %r11d
    cmoval %ecx, %r11d
    subl %r11d, %ecx
    leaq (%rdx,%rcx,8), %rdx
    leaq SLOT(%rax,%r10,8), %rdi
    COPY %rdx, %rdi
    STEP
    addl %r11d, (%rax)
.Lpush_n_commit:
    movl %r11d, %eax
    ret
7:  xorl %eax, %eax
    ret
8:  movq $WRONG_CID, %rax
    ret
END gr_sequence_push_n
DESCRIBE push_n, .Laborted

// i64 gr_sequence_pop_n(u32 cid, u32 header, void **blocks, u32 count, char *const *slabs)
    .hidden gr_sequence_pop_n
FUNCTION gr_sequence_pop_n
    movl %esi, %esi
    HEADER pop_n, %r8
    movl (%rax), %r10d
    movzwl FIRST(%rax), %r11d
    subl %r10d, %r11d
    negl %r11d
    jle 7f
    cmpl %ecx, %r11d
    cmoval %ecx, %r11d
    subl %r11d, %r10d
    leaq SLOT(%rax,%r10,8), %rdi
    COPY %rdi, %rdx
    STEP
    subl %r11d, (%rax)
.Lpop_n_commit:
    movl %r11d, %eax
    ret
7:  xorl %eax, %eax
    ret
8:  movq $WRONG_CID, %rax
    ret
END gr_sequence_pop_n
DESCRIBE pop_n, .Laborted

// u32 gr_sequence_push_each(u32 cid, void **blocks, const u32 *headers, u32 count, char *const *slabs): a sequence for
// each block. rax counts those that stay, r10 those that were tried, and ebp holds count: an abort in a pause loses rcx.
    .hidden gr_sequence_push_each
FUNCTION gr_sequence_push_each
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    movl %ecx, %ebp
    movq %r8, %r11
    xorl %eax, %eax
    xorl %r10d, %r10d
    jmp .Leach_tried
.Leach_next:
    BEGIN push_each, %rbx
    cmpl $0, %fs:CPU_ID(%r8)
    js .Leach_stays
    cmpl %edi, %fs:(%r9)
    jne .Leach_stays
    movl %edi, %ebx
    shlq $SLAB_SHIFT, %rbx
    addq (%r11), %rbx
    movl (%rdx,%r10,4), %r8d
    addq %r8, %rbx
    movq (%rsi,%r10,8), %r9
    STEP
    movl (%rbx), %r8d
    cmpw LIMIT(%rbx), %r8w
    jae .Leach_stays
    STEP
    movq %r9, SLOT(%rbx,%r8,8)
    incl %r8d
    STEP
    movl %r8d, (%rbx)
.Lpush_each_commit:
    incl %r10d
.Leach_tried:
    cmpl %ebp, %r10d
    jb .Leach_next
    .cfi_remember_state
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
    .cfi_restore_state
.Leach_stays:
    movq (%rsi,%r10,8), %rbx
    movq %rbx, (%rsi,%rax,8)
    incl %eax
    incl %r10d
    jmp .Leach_tried
END gr_sequence_push_each
DESCRIBE push_each, .Leach_stays

// i64 gr_sequence_replace(u32 cid, u32 header, u64 expected, u64 desired, char *const *slabs)
    .hidden gr_sequence_replace
FUNCTION gr_sequence_replace
    movl %esi, %esi
    HEADER replace, %r8
    cmpq %rdx, (%rax)
    jne 7f
    STEP
    movq %rcx, (%rax)
.Lreplace_commit:
    xorl %eax, %eax
    ret
7:  movq $DIFFERS, %rax
    ret
8:  movq $WRONG_CID, %rax
    ret
END gr_sequence_replace
DESCRIBE replace, .Laborted

.Laborted:
    movq $ABORTED, %rax
    ret

    .section .note.GNU-stack, "", @progbits

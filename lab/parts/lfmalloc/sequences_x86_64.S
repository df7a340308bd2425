// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the x86-64 sequences of a local heap for each CPU: pop and push. C++ declares them in restartable_heaps.hpp.
// Invariant: one committing store, the last instruction before .L*_commit; before it only a block that the caller frees
//    is written. Offsets are those of LocalHeap and LocalList.
// Must not know: where superblocks come from.

#include "platform/rseq/macros_x86_64.inc"

#define SUPERBLOCK_BYTES 65536
#define SUPERBLOCK_HEADER_BYTES 256
#define PLACE_SHIFT 4
#define ONE_FREE 0x10000
#define BLOCK_BYTES 8
#define BLOCKS 12
#define BIN 16

    .text

// Enters, and leaves this CPU's heap in rcx. `heaps`: where it stands where they lie. Clobbers rax, r8, r9.
.macro ENTER name, heaps
    BEGIN \name, %rax
    movl %fs:CPU_ID(%r8), %ecx
    testl %ecx, %ecx
    js .Lnothing
    shlq $SLAB_SHIFT, %rcx
    addq (\heaps), %rcx
    STEP
.endm

// void *gr_lab_sequence_pop(u32 bin, LocalHeap *const *heaps)
    .hidden gr_lab_sequence_pop
FUNCTION gr_lab_sequence_pop
    movl %edi, %edi
    ENTER lab_pop, %rsi
    movq (%rcx,%rdi,8), %rsi
    testq %rsi, %rsi
    jz .Lnothing
    movq (%rsi), %rdx
    movq %rsi, %rax
    andq $-SUPERBLOCK_BYTES, %rax
    movzwl %dx, %ecx
    testl %ecx, %ecx
    jz 1f
    shll $PLACE_SHIFT, %ecx
    addq %rcx, %rax
    STEP
    movw (%rax), %dx
    subq $ONE_FREE, %rdx
    jmp 2f
1:  movq %rdx, %rcx
    shrq $32, %rcx
    cmpl BLOCKS(%rsi), %ecx
    jae .Lnothing
    movl BLOCK_BYTES(%rsi), %edi
    imulq %rcx, %rdi
    leaq SUPERBLOCK_HEADER_BYTES(%rax,%rdi), %rax
    movabsq $(1 << 32), %rcx
    addq %rcx, %rdx
2:  STEP
    movq %rdx, (%rsi)
.Llab_pop_commit:
    ret
.Lnothing:
    xorl %eax, %eax
    ret
END gr_lab_sequence_pop
DESCRIBE lab_pop, .Lnothing

// bool gr_lab_sequence_push(LocalList *list, void *block, LocalHeap *const *heaps)
    .hidden gr_lab_sequence_push
FUNCTION gr_lab_sequence_push
    ENTER lab_push, %rdx
    movl BIN(%rdi), %eax
    cmpq %rdi, (%rcx,%rax,8)
    jne .Lnothing
    movq (%rdi), %rdx
    STEP
    movw %dx, (%rsi)
    movl %esi, %eax
    andl $(SUPERBLOCK_BYTES - 1), %eax
    shrl $PLACE_SHIFT, %eax
    movw %ax, %dx
    addq $ONE_FREE, %rdx
    STEP
    movq %rdx, (%rdi)
.Llab_push_commit:
    movl $1, %eax
    ret
END gr_lab_sequence_push
DESCRIBE lab_push, .Lnothing

    .section .note.GNU-stack, "", @progbits

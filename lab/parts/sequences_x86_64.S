// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the x86-64 sequences of a local heap for each CPU: pop, push, install. C++ declares them in restartable_heaps.hpp.
// Invariant: one committing store, the last instruction before .L*_commit; before it only a block that the caller frees is
//            written. Offsets are those of LocalHeap, LocalList and LabSequenceState.
// Must not know: where superblocks come from.

#include "platform/rseq/macros_x86_64.inc"

#define HEAPS gr_lab_sequence_state(%rip)
#define HEAP_COUNT 8+gr_lab_sequence_state(%rip)
#define LAB_RSEQ_OFFSET 16+gr_lab_sequence_state(%rip)
#define LOCAL_HEAP_SHIFT 9
#define SUPERBLOCK_BYTES 65536
#define SUPERBLOCK_HEADER_BYTES 256
#define PLACE_SHIFT 4
#define ONE_FREE 0x10000
#define BLOCK_BYTES 8
#define BLOCKS 12
#define BIN 16

    .bss
    .balign 64
    .globl gr_lab_sequence_state
    .hidden gr_lab_sequence_state
    .type gr_lab_sequence_state, @object
    .size gr_lab_sequence_state, 24
gr_lab_sequence_state:
    .zero 24

    .text

// Enters and leaves this CPU's number in rcx. Clobbers rax, r8. A number below zero is above any count.
.macro ENTER name, refused
    movq LAB_RSEQ_OFFSET, %r8
    BEGIN_NEXT \name, %rax
    movl %fs:CPU_ID(%r8), %ecx
    cmpq HEAP_COUNT, %rcx
    jae \refused
    STEP
.endm

// From its number to the heap, in rcx.
.macro HEAP
    shlq $LOCAL_HEAP_SHIFT, %rcx
    addq HEAPS, %rcx
.endm

// void *gr_lab_sequence_pop(u32 bin)
    .hidden gr_lab_sequence_pop
FUNCTION gr_lab_sequence_pop
    movl %edi, %edi
    ENTER lab_pop, .Lno_block
    HEAP
    movq (%rcx,%rdi,8), %rsi
    testq %rsi, %rsi
    jz .Lno_block
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
    jae .Lno_block
    movl BLOCK_BYTES(%rsi), %edi
    imulq %rcx, %rdi
    leaq SUPERBLOCK_HEADER_BYTES(%rax,%rdi), %rax
    movabsq $(1 << 32), %rcx
    addq %rcx, %rdx
2:  STEP
    movq %rdx, (%rsi)
.Llab_pop_commit:
    ret
.Lno_block:
    xorl %eax, %eax
    ret
END gr_lab_sequence_pop
DESCRIBE lab_pop, .Lno_block

// bool gr_lab_sequence_push(LocalList *list, void *block)
    .hidden gr_lab_sequence_push
FUNCTION gr_lab_sequence_push
    ENTER lab_push, .Lnot_done
    HEAP
    movl BIN(%rdi), %eax
    cmpq %rdi, (%rcx,%rax,8)
    jne .Lnot_done
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
.Lnot_done:
    xorl %eax, %eax
    ret
END gr_lab_sequence_push
DESCRIBE lab_push, .Lnot_done

// bool gr_lab_sequence_install(u32 cpu, u32 bin, LocalList *expected, LocalList *desired)
    .hidden gr_lab_sequence_install
FUNCTION gr_lab_sequence_install
    movl %esi, %esi
    movq %rcx, %r9
    ENTER lab_install, .Lnot_done
    cmpl %edi, %ecx
    jne .Lnot_done
    HEAP
    cmpq %rdx, (%rcx,%rsi,8)
    jne .Lnot_done
    STEP
    movq %r9, (%rcx,%rsi,8)
.Llab_install_commit:
    movl $1, %eax
    ret
END gr_lab_sequence_install
DESCRIBE lab_install, .Lnot_done

    .section .note.GNU-stack, "", @progbits

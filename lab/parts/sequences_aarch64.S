// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the aarch64 sequences of a local heap for each CPU: pop, push, install. C++ declares them in restartable_heaps.hpp.
// Invariant: one committing store, the last instruction before .L*_commit; before it only a block that the caller frees is
//            written. Offsets are those of LocalHeap, LocalList and LabSequenceState.
// Must not know: where superblocks come from.

#include "platform/rseq/macros_aarch64.inc"

#define LOCAL_HEAP_SHIFT 9
#define SUPERBLOCK_BYTES 65536
#define SUPERBLOCK_HEADER_BYTES 256
#define PLACE_SHIFT 4
#define ONE_FREE 0x10, lsl #12
#define BLOCK_BYTES 8        /* and BLOCKS, loaded as a pair */
#define BIN 16

    .bss
    .balign 64
    .globl gr_lab_sequence_state
    .hidden gr_lab_sequence_state
    .type gr_lab_sequence_state, %object
    .size gr_lab_sequence_state, 24
gr_lab_sequence_state:
    .zero 24

    .text

// Enters and leaves this CPU's number in x13 and its heap in x12. Clobbers x8, x10, x11, x14. A number below zero is above
// any count.
.macro ENTER name, refused
    adrp x8, gr_lab_sequence_state
    add x8, x8, :lo12:gr_lab_sequence_state
    mrs x10, tpidr_el0
    ldr x11, [x8, #16]
    add x11, x10, x11
    adrp x13, .L\name\()_descriptor
    add x13, x13, :lo12:.L\name\()_descriptor
    str x13, [x11, #RSEQ_CS]
.L\name\()_start:
    STEP
    ldr w13, [x11, #CPU_ID]
    ldp x12, x14, [x8]
    cmp x13, x14
    b.hs \refused
    add x12, x12, x13, lsl #LOCAL_HEAP_SHIFT
    STEP
.endm

// void *gr_lab_sequence_pop(u32 bin)
    .hidden gr_lab_sequence_pop
FUNCTION gr_lab_sequence_pop
    mov w1, w0
    ENTER lab_pop, .Lno_block
    ldr x2, [x12, x1, lsl #3]
    cbz x2, .Lno_block
    ldr x3, [x2]
    and x0, x2, #-SUPERBLOCK_BYTES
    ands x4, x3, #0xffff
    b.eq 1f
    add x0, x0, x4, lsl #PLACE_SHIFT
    STEP
    ldrh w4, [x0]
    bfi x3, x4, #0, #16
    sub x3, x3, #ONE_FREE
    b 2f
1:  lsr x4, x3, #32
    ldp w5, w6, [x2, #BLOCK_BYTES]
    cmp w4, w6
    b.hs .Lno_block
    madd x0, x4, x5, x0
    add x0, x0, #SUPERBLOCK_HEADER_BYTES
    mov x4, #(1 << 32)
    add x3, x3, x4
2:  STEP
    str x3, [x2]
.Llab_pop_commit:
    ret
.Lno_block:
    mov x0, #0
    ret
END gr_lab_sequence_pop
DESCRIBE lab_pop, .Lno_block

// bool gr_lab_sequence_push(LocalList *list, void *block)
    .hidden gr_lab_sequence_push
FUNCTION gr_lab_sequence_push
    ENTER lab_push, .Lnot_done
    ldr w2, [x0, #BIN]
    ldr x3, [x12, x2, lsl #3]
    cmp x3, x0
    b.ne .Lnot_done
    ldr x3, [x0]
    STEP
    strh w3, [x1]
    ubfx x4, x1, #PLACE_SHIFT, #(16 - PLACE_SHIFT)
    bfi x3, x4, #0, #16
    add x3, x3, #ONE_FREE
    STEP
    str x3, [x0]
.Llab_push_commit:
    mov w0, #1
    ret
.Lnot_done:
    mov w0, #0
    ret
END gr_lab_sequence_push
DESCRIBE lab_push, .Lnot_done

// bool gr_lab_sequence_install(u32 cpu, u32 bin, LocalList *expected, LocalList *desired)
    .hidden gr_lab_sequence_install
FUNCTION gr_lab_sequence_install
    mov w1, w1
    ENTER lab_install, .Lnot_done
    cmp w13, w0
    b.ne .Lnot_done
    ldr x4, [x12, x1, lsl #3]
    cmp x4, x2
    b.ne .Lnot_done
    STEP
    str x3, [x12, x1, lsl #3]
.Llab_install_commit:
    mov w0, #1
    ret
END gr_lab_sequence_install
DESCRIBE lab_install, .Lnot_done

    .section .note.GNU-stack, "", %progbits

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the aarch64 sequences of a local heap for each CPU: pop and push. C++ declares them in restartable_heaps.hpp.
// Invariant: one committing store, the last instruction before .L*_commit; before it only a block that the caller frees
//    is written. Offsets are those of LocalHeap and LocalList.
// Must not know: where superblocks come from.

#include "platform/rseq/macros_aarch64.inc"

#define SUPERBLOCK_BYTES 65536
#define SUPERBLOCK_HEADER_BYTES 256
#define PLACE_SHIFT 4
#define ONE_FREE 0x10, lsl #12
#define BLOCK_BYTES 8        /* and BLOCKS, loaded as a pair */
#define BIN 16

    .text

// Enters, and leaves this CPU's heap in x12. `heaps`: where it stands where they lie. Clobbers x8, x10, x11, x13.
.macro ENTER name, heaps
    STATE
    BEGIN \name
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, .Lnothing
    ldr x12, [\heaps]
    add x12, x12, x13, lsl #SLAB_SHIFT
    STEP
.endm

// void *gr_lab_sequence_pop(u32 bin, LocalHeap *const *heaps)
    .hidden gr_lab_sequence_pop
FUNCTION gr_lab_sequence_pop
    mov w0, w0
    ENTER lab_pop, x1
    ldr x2, [x12, x0, lsl #3]
    cbz x2, .Lnothing
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
    b.hs .Lnothing
    madd x0, x4, x5, x0
    add x0, x0, #SUPERBLOCK_HEADER_BYTES
    mov x4, #(1 << 32)
    add x3, x3, x4
2:  STEP
    str x3, [x2]
.Llab_pop_commit:
    ret
.Lnothing:
    mov x0, #0
    ret
END gr_lab_sequence_pop
DESCRIBE lab_pop, .Lnothing

// bool gr_lab_sequence_push(LocalList *list, void *block, LocalHeap *const *heaps)
    .hidden gr_lab_sequence_push
FUNCTION gr_lab_sequence_push
    ENTER lab_push, x2
    ldr w2, [x0, #BIN]
    ldr x3, [x12, x2, lsl #3]
    cmp x3, x0
    b.ne .Lnothing
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
END gr_lab_sequence_push
DESCRIBE lab_push, .Lnothing

    .section .note.GNU-stack, "", %progbits

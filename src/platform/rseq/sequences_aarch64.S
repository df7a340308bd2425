// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the aarch64 sequences that C++ calls: pop, push, push_n, pop_n, push_each, replace. Their C++ twins:
//    reference.hpp. `slabs` points to the variable that holds the address of the slabs.
// Invariant: each sequence has one committing store, the last instruction before .L*_commit. Before it, nothing is
//    written that others can see, except slots above `current`.
// Must not know: size classes and heaps.

#include "platform/rseq/macros_aarch64.inc"

    .text

// void *gr_sequence_pop(u32 header, char *const *slabs)
    .hidden gr_sequence_pop
FUNCTION gr_sequence_pop
    STATE
    mov w9, w0
    BEGIN pop
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 9f
    ldr w13, [x10, x12]
    ldr x14, [x1]
    add x14, x14, x13, lsl #SLAB_SHIFT
    add x14, x14, x9
    STEP
    ldr w13, [x14]
    add x15, x14, x13, lsl #3
    ldr x15, [x15, #LAST_SLOT]
    cbz x15, 9f
    sub w13, w13, #1
    STEP
    str w13, [x14]
.Lpop_commit:
    mov x0, x15
    ret
9:  mov x0, #0
    ret
.Lpop_aborted:
    mov x0, #0
    ret
END gr_sequence_pop
DESCRIBE pop, .Lpop_aborted

// bool gr_sequence_push(void *block, u64 entry, char *const *slabs, u64 bytes, u64 *counter): does what free does, on
// any slabs; then a second sequence counts.
    .hidden gr_sequence_push
FUNCTION gr_sequence_push
    STATE
    BEGIN push
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 9f
    ldr w13, [x10, x12]
    cmp w13, w1
    b.ne gr_sequence_push_remote
    ldr x14, [x2]
    add x14, x14, x1, lsr #32
    PUSH
.Lpush_commit:
.Lcount:
    BEGIN count
    ldr w13, [x10, x12]
    add w13, w13, #1
    lsl x13, x13, #COUNTER_SHIFT
    ldr x15, [x4, x13]
    add x15, x15, x3
    STEP
    str x15, [x4, x13]
.Lcount_commit:
    mov w0, #1
    ret
9:  mov w0, #0
    ret
END gr_sequence_push
DESCRIBE push, .Lrefuse_push
DESCRIBE count, .Lcount_aborted
.Lrefuse_push:
    mov w0, #0
    ret
.Lcount_aborted:
79: ldxr x13, [x4]
    add x13, x13, x3
    stxr w15, x13, [x4]
    cbnz w15, 79b
    mov w0, #1
    ret

// The block of another owner.
    .hidden gr_sequence_push_remote
FUNCTION gr_sequence_push_remote
    lsr x9, x1, #32
    and x9, x9, #((1 << SLAB_SHIFT) - 1)
    sub x9, x9, #8
    cmp x9, #(REMOTE_HEADERS - 8)
    b.hi .Lrefuse_push
    BEGIN push_remote
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 9f
    ldr w13, [x10, x12]
    ldr x14, [x2]
    add x14, x14, x13, lsl #SLAB_SHIFT
    add x14, x14, #REMOTE
    PUSH
.Lpush_remote_commit:
    b .Lcount
9:  b .Lrefuse_push
END gr_sequence_push_remote
DESCRIBE push_remote, .Lrefuse_push

// Enters and checks the cid (w0), then leaves the header's address in x14. x4: slabs.
.macro HEADER name
    STATE
    mov w0, w0
    mov w1, w1
    BEGIN \name
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 8f
    ldr w13, [x10, x12]
    cmp w13, w0
    b.ne 8f
    ldr x14, [x4]
    add x14, x14, x0, lsl #SLAB_SHIFT
    add x14, x14, x1
    STEP
.endm

// Copies x5 words, one at least. Clobbers both addresses, x7, x13, v0.
.macro COPY from, to
    mov w7, w5
    tbz w7, #0, 1f
    ldr x13, [\from], #8
    str x13, [\to], #8
    STEP
    subs w7, w7, #1
    b.eq 2f
1:  ldr q0, [\from], #16
    str q0, [\to], #16
    STEP
    subs w7, w7, #2
    b.ne 1b
2:
.endm

// i64 gr_sequence_push_n(u32 cid, u32 header, void *const *blocks, u32 count, char *const *slabs)
    .hidden gr_sequence_push_n
FUNCTION gr_sequence_push_n
    HEADER push_n
    ldr w4, [x14]
    ldrh w5, [x14, #LIMIT]
    subs w5, w5, w4
    b.le 7f
    cmp w5, w3
    csel w5, w3, w5, hi
    sub w3, w3, w5
    add x2, x2, x3, lsl #3
    add x6, x14, x4, lsl #3
    add x6, x6, #SLOT
    add w4, w4, w5
    COPY x2, x6
    STEP
    str w4, [x14]
.Lpush_n_commit:
    mov x0, x5
    ret
7:  mov x0, #0
    ret
8:  mov x0, #WRONG_CID
    ret
END gr_sequence_push_n
DESCRIBE push_n, .Laborted

// i64 gr_sequence_pop_n(u32 cid, u32 header, void **blocks, u32 count, char *const *slabs)
    .hidden gr_sequence_pop_n
FUNCTION gr_sequence_pop_n
    HEADER pop_n
    ldr w4, [x14]
    ldrh w5, [x14, #FIRST]
    subs w5, w4, w5
    b.le 7f
    cmp w5, w3
    csel w5, w3, w5, hi
    sub w4, w4, w5
    add x6, x14, x4, lsl #3
    add x6, x6, #SLOT
    COPY x6, x2
    STEP
    str w4, [x14]
.Lpop_n_commit:
    mov x0, x5
    ret
7:  mov x0, #0
    ret
8:  mov x0, #WRONG_CID
    ret
END gr_sequence_pop_n
DESCRIBE pop_n, .Laborted

// u32 gr_sequence_push_each(u32 cid, void **blocks, const u32 *headers, u32 count, char *const *slabs): a sequence for
// each block. x9 counts those that stay, x7 those that were tried.
    .hidden gr_sequence_push_each
FUNCTION gr_sequence_push_each
    STATE
    mov w0, w0
    mov x9, #0
    mov x7, #0
    b .Leach_tried
.Leach_next:
    BEGIN push_each
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, .Leach_stays
    ldr w13, [x10, x12]
    cmp w13, w0
    b.ne .Leach_stays
    ldr x14, [x4]
    add x14, x14, x0, lsl #SLAB_SHIFT
    ldr w13, [x2, x7, lsl #2]
    add x14, x14, x13
    ldr x5, [x1, x7, lsl #3]
    STEP
    ldr w13, [x14]
    ldrh w15, [x14, #LIMIT]
    cmp w13, w15
    b.hs .Leach_stays
    add x15, x14, x13, lsl #3
    STEP
    str x5, [x15, #SLOT]
    add w13, w13, #1
    STEP
    str w13, [x14]
.Lpush_each_commit:
    add x7, x7, #1
.Leach_tried:
    cmp w7, w3
    b.lo .Leach_next
    mov w0, w9
    ret
.Leach_stays:
    ldr x5, [x1, x7, lsl #3]
    str x5, [x1, x9, lsl #3]
    add x9, x9, #1
    add x7, x7, #1
    b .Leach_tried
END gr_sequence_push_each
DESCRIBE push_each, .Leach_stays

// i64 gr_sequence_replace(u32 cid, u32 header, u64 expected, u64 desired, char *const *slabs)
    .hidden gr_sequence_replace
FUNCTION gr_sequence_replace
    HEADER replace
    ldr x4, [x14]
    cmp x4, x2
    b.ne 7f
    STEP
    str x3, [x14]
.Lreplace_commit:
    mov x0, #0
    ret
7:  mov x0, #DIFFERS
    ret
8:  mov x0, #WRONG_CID
    ret
END gr_sequence_replace
DESCRIBE replace, .Laborted

.Laborted:
    mov x0, #ABORTED
    ret

    .section .note.GNU-stack, "", %progbits

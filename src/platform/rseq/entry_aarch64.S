// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the entry points that allocate and free, aarch64: the fast paths, one sequence each, no frame.
// Invariant: in every doubtful case the code jumps to the slow path, which starts over from the arguments (x0 is never
//    changed before the commit).
// Must not know: what the slow paths do. The layer above defines gr_malloc_slow, gr_new_slow and gr_free_slow.

#include "platform/rseq/macros_aarch64.inc"

    .hidden gr_sequence_state, gr_malloc_slow, gr_new, gr_new_slow, gr_free_slow

// malloc: class = (size + 15) / 16; header = slabs[cid] + 8 * class; block = last slot; commit current - 1.
// Size 0 leads to header 0, which always stays empty.
.macro ALLOCATE name, slow
FUNCTION \name
    STATE
    ldr x9, [x8, #SIZE_LIMIT]
    cmp x0, x9
    b.hs 9f
    add w9, w0, #15
    lsr w9, w9, #4
    BEGIN \name
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 9f
    ldr w13, [x10, x12]
    ldr x14, [x8, #SLABS]
    add x14, x14, x13, lsl #SLAB_SHIFT
    add x14, x14, x9, lsl #HEADER_SHIFT
    STEP
    ldr w13, [x14]
    add x15, x14, x13, lsl #3
    ldr x15, [x15, #LAST_SLOT]
    cbz x15, 9f
    sub w13, w13, #1
    STEP
    str w13, [x14]
.L\name\()_commit:
    mov x0, x15
    ret
9:  b \slow
END \name
DESCRIBE \name, \slow
.endm

    .text
ALLOCATE malloc, gr_malloc_slow
ALLOCATE gr_new, gr_new_slow

// free: rotates the low bits, which are 0 in the address of every block, to the top: an address in which they are not 0
// exceeds every limit. The unit map's entry is { owner, header offset }. If the calling thread's heap is the owner, the
// block is pushed on its magazine; a small block of another owner is pushed on the remote magazine. A block that
// already lies on top is freed twice in a row. The delete operators have addresses of their own, by which tools like
// valgrind tell them from free.
FUNCTION free, _ZdlPvSt11align_val_t, _ZdlPv
    STATE
    ldr x9, [x8, #BASE]
    sub x16, x0, x9
    ror x16, x16, #FINE_SHIFT
    ldr x15, [x8, #FINE_LIMIT]
    cmp x16, x15
    b.hs 9f
    lsr x16, x16, #(UNIT_SHIFT - FINE_SHIFT)
    ldr x9, [x9, x16, lsl #3]
    BEGIN free
    ldr w13, [x10, x12]
    cmp w13, w9
    b.ne gr_free_remote
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 9f
    ldr x14, [x8, #SLABS]
    add x14, x14, x9, lsr #32
    PUSH
.Lfree_commit:
    ret
9:  b gr_free_slow
END free
DESCRIBE free, gr_free_slow

// C23's free. They jump to free, so that a tool that replaces free and does not know these names, as valgrind 3.19, gets
// their blocks, too.
FUNCTION free_sized, free_aligned_sized
    b gr_own_free
END free_sized

// The block of another owner. This is a sequence of its own, so that each has one commit. x9 holds the unit map's
// entry.
    .hidden gr_free_remote
FUNCTION gr_free_remote
    lsr x9, x9, #32
    and x9, x9, #((1 << SLAB_SHIFT) - 1)
    sub x9, x9, #8
    cmp x9, #(REMOTE_HEADERS - 8)
    b.hi 9f
    BEGIN free_remote
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, 9f
    ldr w13, [x10, x12]
    ldr x14, [x8, #SLABS]
    add x14, x14, x13, lsl #SLAB_SHIFT
    add x14, x14, #REMOTE
    PUSH
.Lfree_remote_commit:
    ret
9:  b gr_free_slow
END gr_free_remote
DESCRIBE free_remote, gr_free_slow

#include "platform/rseq/entry_names.inc"

    .section .note.GNU-stack, "", %progbits

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the aarch64 sequences of the transactional layer: begin, load, store, announce. C++ declares them in
//    transactions.hpp.
// Invariant: the last instruction before .L*_commit commits. Before it only what no reader relies on yet is written: a record
//    that is not announced, and the stores of one that is, which the next transaction would do again. Offsets are those of
//    TransactionSlot and Store.
// Must not know: what the words are for.

#include "platform/rseq/macros_aarch64.inc"

#define TRANSACTION_SLOT_SHIFT 6
#define CPU 8
#define PENDING 12
#define STORES 16
#define STORE_BYTES 16
#define DONE 1
#define INTERRUPTED 2

    .text

// Enters the sequence of a transaction's step, or leaves where the thread is on another CPU or another transaction began
// there. x0: its slot, x1: its turn. Clobbers x8, x10 to x14.
.macro CONTINUE name
    STATE
    BEGIN \name
    ldr w13, [x11, #CPU_ID]
    ldr w14, [x0, #CPU]
    cmp w13, w14
    b.ne .Lannulled
    ldr x14, [x0]
    cmp x14, x1
    b.ne .Lannulled
    STEP
.endm

// Begun gr_lab_transaction_begin(TransactionSlot *const *slots)
    .hidden gr_lab_transaction_begin
FUNCTION gr_lab_transaction_begin
    STATE
    BEGIN lab_transaction_begin
    ldr w13, [x11, #CPU_ID]
    tbnz w13, #31, .Lannulled
    ldr x0, [x0]
    add x0, x0, x13, lsl #TRANSACTION_SLOT_SHIFT
    STEP
    ldr w2, [x0, #PENDING]
    cbz w2, 2f
    add x3, x0, #STORES
1:  ldp x4, x5, [x3], #STORE_BYTES
    STEP
    str x5, [x4]
    sub w2, w2, #1
    cbnz w2, 1b
    STEP
    str wzr, [x0, #PENDING]
2:  ldr x1, [x0]
    add x1, x1, #1
    STEP
    str x1, [x0]
.Llab_transaction_begin_commit:
    ret
END gr_lab_transaction_begin
DESCRIBE lab_transaction_begin, .Linterrupted

// Step gr_lab_transaction_load(TransactionSlot *slot, u64 turn, const void *word)
    .hidden gr_lab_transaction_load
FUNCTION gr_lab_transaction_load
    CONTINUE lab_transaction_load
    ldr x0, [x2]
.Llab_transaction_load_commit:
    mov x1, #DONE
    ret
END gr_lab_transaction_load
DESCRIBE lab_transaction_load, .Linterrupted

// Step gr_lab_transaction_store(TransactionSlot *slot, u64 turn, void *word, u64 value)
    .hidden gr_lab_transaction_store
FUNCTION gr_lab_transaction_store
    CONTINUE lab_transaction_store
    str x3, [x2]
.Llab_transaction_store_commit:
    mov x1, #DONE
    ret
END gr_lab_transaction_store
DESCRIBE lab_transaction_store, .Linterrupted

// Step gr_lab_transaction_announce(TransactionSlot *slot, u64 turn, const Store *stores, u32 count)
    .hidden gr_lab_transaction_announce
FUNCTION gr_lab_transaction_announce
    CONTINUE lab_transaction_announce
    mov w4, w3
    add x5, x0, #STORES
1:  ldp x6, x7, [x2], #STORE_BYTES
    STEP
    stp x6, x7, [x5], #STORE_BYTES
    sub w4, w4, #1
    cbnz w4, 1b
    STEP
    str w3, [x0, #PENDING]
.Llab_transaction_announce_commit:
    mov x1, #DONE
    ret
END gr_lab_transaction_announce
DESCRIBE lab_transaction_announce, .Linterrupted

.Lannulled:
    mov x0, #0
    mov x1, #0
    ret
.Linterrupted:
    mov x0, #0
    mov x1, #INTERRUPTED
    ret

    .section .note.GNU-stack, "", %progbits

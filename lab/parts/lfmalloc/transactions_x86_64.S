// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the x86-64 sequences of the transactional layer: begin, load, store, announce. C++ declares them in
//    transactions.hpp.
// Invariant: the last instruction before .L*_commit commits. Before it only what no reader relies on yet is written: a record
//    that is not announced, and the stores of one that is, which the next transaction would do again. Offsets are those of
//    TransactionSlot and Store.
// Must not know: what the words are for.

#include "platform/rseq/macros_x86_64.inc"

#define TRANSACTION_SLOT_SHIFT 6
#define CPU 8
#define PENDING 12
#define STORES 16
#define VALUE 8
#define STORE_BYTES 16
#define DONE 1
#define INTERRUPTED 2

    .text

// Enters the sequence of a transaction's step, or leaves where the thread is on another CPU or another transaction began
// there. rdi: its slot, rsi: its turn. Clobbers rax, r8, r9.
.macro CONTINUE name
    BEGIN \name, %rax
    movl %fs:CPU_ID(%r8), %eax
    cmpl CPU(%rdi), %eax
    jne .Lannulled
    cmpq (%rdi), %rsi
    jne .Lannulled
    STEP
.endm

// Begun gr_lab_transaction_begin(TransactionSlot *const *slots)
    .hidden gr_lab_transaction_begin
FUNCTION gr_lab_transaction_begin
    BEGIN lab_transaction_begin, %rax
    movl %fs:CPU_ID(%r8), %eax
    testl %eax, %eax
    js .Lannulled
    shlq $TRANSACTION_SLOT_SHIFT, %rax
    addq (%rdi), %rax
    STEP
    movl PENDING(%rax), %ecx
    testl %ecx, %ecx
    jz 2f
    leaq STORES(%rax), %rdx
1:  movq (%rdx), %rsi
    movq VALUE(%rdx), %rdi
    STEP
    movq %rdi, (%rsi)
    addq $STORE_BYTES, %rdx
    decl %ecx
    jnz 1b
    STEP
    movl $0, PENDING(%rax)
2:  movq (%rax), %rdx
    incq %rdx
    STEP
    movq %rdx, (%rax)
.Llab_transaction_begin_commit:
    ret
END gr_lab_transaction_begin
DESCRIBE lab_transaction_begin, .Linterrupted

// Step gr_lab_transaction_load(TransactionSlot *slot, u64 turn, const void *word)
    .hidden gr_lab_transaction_load
FUNCTION gr_lab_transaction_load
    CONTINUE lab_transaction_load
    movq (%rdx), %rax
.Llab_transaction_load_commit:
    movl $DONE, %edx
    ret
END gr_lab_transaction_load
DESCRIBE lab_transaction_load, .Linterrupted

// Step gr_lab_transaction_store(TransactionSlot *slot, u64 turn, void *word, u64 value)
    .hidden gr_lab_transaction_store
FUNCTION gr_lab_transaction_store
    CONTINUE lab_transaction_store
    movq %rcx, (%rdx)
.Llab_transaction_store_commit:
    movl $DONE, %edx
    ret
END gr_lab_transaction_store
DESCRIBE lab_transaction_store, .Linterrupted

// Step gr_lab_transaction_announce(TransactionSlot *slot, u64 turn, const Store *stores, u32 count)
    .hidden gr_lab_transaction_announce
FUNCTION gr_lab_transaction_announce
    CONTINUE lab_transaction_announce
    movl %ecx, %r10d
    leaq STORES(%rdi), %r11
1:  movq (%rdx), %r8
    movq VALUE(%rdx), %r9
    STEP
    movq %r8, (%r11)
    movq %r9, VALUE(%r11)
    addq $STORE_BYTES, %rdx
    addq $STORE_BYTES, %r11
    decl %r10d
    jnz 1b
    STEP
    movl %ecx, PENDING(%rdi)
.Llab_transaction_announce_commit:
    movl $DONE, %edx
    ret
END gr_lab_transaction_announce
DESCRIBE lab_transaction_announce, .Linterrupted

.Lannulled:
    xorl %eax, %eax
    xorl %edx, %edx
    ret
.Linterrupted:
    xorl %eax, %eax
    movl $INTERRUPTED, %edx
    ret

    .section .note.GNU-stack, "", @progbits

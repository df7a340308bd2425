// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: dlopen and dlmopen, aarch64: they ask the layer above where to go on, and jump there.
// Invariant: when libc's function begins, nothing but the flags has changed. The return address above all is the
//    caller's: by it the loader knows whose search path, $ORIGIN and namespace to use.
// Must not know: what the flags mean. The layer above defines gr_before_dlopen and gr_before_dlmopen, which return
//    where to go on in x0 and the flags in x1.

    .hidden gr_before_dlopen, gr_before_dlmopen
    .text

// The frame keeps x0 and x1 for the call.
.macro ASK question
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    mov x29, sp
    stp x0, x1, [sp, #16]
    bl \question
    mov x16, x0
    mov x2, x1
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
.endm

    .p2align 4
    .globl dlopen
    .type dlopen, %function
dlopen:
    .cfi_startproc
    ASK gr_before_dlopen
    mov w1, w2
    br x16
    .cfi_endproc
    .size dlopen, . - dlopen

    .p2align 4
    .globl dlmopen
    .type dlmopen, %function
dlmopen:
    .cfi_startproc
    ASK gr_before_dlmopen
    br x16
    .cfi_endproc
    .size dlmopen, . - dlmopen

    .section .note.GNU-stack, "", @progbits

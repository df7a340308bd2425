// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: dlopen and dlmopen, x86-64: they ask the layer above where to go on, and jump there.
// Invariant: when libc's function begins, nothing but the flags has changed. The return address above all is the
//    caller's: by it the loader knows whose search path, $ORIGIN and namespace to use.
// Must not know: what the flags mean. The layer above defines gr_before_dlopen and gr_before_dlmopen, which return
//    where to go on in rax and the flags in rdx.

    .hidden gr_before_dlopen, gr_before_dlmopen
    .text

    .globl dlopen
    .type dlopen, %function
dlopen:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    call gr_before_dlopen
    popq %rdi
    .cfi_adjust_cfa_offset -8
    movl %edx, %esi
    jmp *%rax
    .cfi_endproc
    .size dlopen, . - dlopen

    .globl dlmopen
    .type dlmopen, %function
dlmopen:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call gr_before_dlmopen
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size dlmopen, . - dlmopen

    .section .note.GNU-stack, "", @progbits

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: GC_free and the functions that allocate from the standard kinds, x86-64: the fast paths, one sequence each and
//    one that counts, no frame.
// Invariant: every doubt jumps to the slow path, which starts over from the argument (rdi is never changed). Until the
//    caller has a block, a register has it: a collection that stops the thread does not free it.
// Must not know: what the slow paths do.

#include "libgc/offsets.inc"
#include "platform/rseq/macros_x86_64.inc"

    .hidden gr_sequence_state, gr_gc_entry_state, gr_gc_malloc_slow, gr_gc_malloc_atomic_slow, gr_gc_free_slow
    .hidden gr_gc_malloc_uncollectable_slow, gr_gc_malloc_atomic_uncollectable_slow

#define ENTRY_STATE(field) field + gr_gc_entry_state(%rip)
#define AHEAD (4 * 8) /* slots below the one that is taken */

// class = (size + 15 + 1) / 16, without the 1 if interior pointers do not count; then as malloc. Leaves the block in rax and
// its class in esi. What jumps to 8, out of the way, comes back with its class to 7.
.macro ALLOCATE name, kind, slow
    movq GC_all_interior_pointers@GOTPCREL(%rip), %rcx
    cmpq ENTRY_STATE(GC_FINE_LIMIT), %rdi
    jae 8f
    leal 16(%rdi), %esi
    cmpl $1, (%rcx)
    sbbl $0, %esi
    shrl $FINE_SHIFT, %esi
7:  movq ENTRY_STATE(GC_FOUND), %r10
    BEGIN \name, %rdx
    cmpl $0, %fs:CPU_ID(%r8)
    js \slow
    movl %fs:(%r9), %ecx
    shlq $SLAB_SHIFT, %rcx
    addq ((\kind << FOUND_SHIFT) + FOUND_SLABS)(%r10), %rcx
    leaq (%rcx,%rsi,HEADER_SIZE), %rcx
    STEP
    movl (%rcx), %edx
    movq LAST_SLOT(%rcx,%rdx,8), %rax
    STEP
    testq %rax, %rax
    jz \slow
    decl %edx
    movl %edx, (%rcx)
.L\name\()_commit:
.endm

// The class of n + 1 bytes above those of fine steps: n has d = floor(log2 n), and n >> (d - 3) is 8 to 15, the step in its
// doubling and 8.
.macro COARSE_CLASS slow
8:  cmpq ENTRY_STATE(GC_SIZE_LIMIT), %rdi
    jae \slow
    movl %edi, %esi
    cmpl $1, (%rcx)
    sbbl $0, %esi
    bsrl %esi, %ecx
    subl $COARSE_SHIFT, %ecx
    shrl %cl, %esi
    leal (FINE_CLASSES + 1 - (1 << COARSE_SHIFT) * (FIRST_DOUBLING - COARSE_SHIFT + 1))(%rsi,%rcx,1 << COARSE_SHIFT), %esi
    jmp 7b
.endm

// A function that does not zero.
.macro ALLOCATES name, kind, slow
FUNCTION \name
    ALLOCATE \name, \kind, \slow
    ret
    COARSE_CLASS \slow
END \name
DESCRIBE \name, \slow
.endm

// Fetches the block that a later call will zero; what is no block there fetches nothing. Zeroes up to 128 bytes from both
// ends, a quarter or a half from each; more by libc, which returns the block.
.macro ALLOCATES_ZEROED name, kind, slow
FUNCTION \name
    ALLOCATE \name, \kind, \slow
    movq (LAST_SLOT - AHEAD)(%rcx,%rdx,8), %rdx
    prefetchw (%rdx)
    pxor %xmm0, %xmm0
    shll $FINE_SHIFT, %esi
    cmpl $32, %esi
    ja 1f
    movups %xmm0, (%rax)
    movups %xmm0, -16(%rax,%rsi)
    ret
1:  cmpl $128, %esi
    ja 3f
    cmpl $64, %esi
    jbe 2f
    movups %xmm0, 32(%rax)
    movups %xmm0, 48(%rax)
    movups %xmm0, -64(%rax,%rsi)
    movups %xmm0, -48(%rax,%rsi)
2:  movups %xmm0, (%rax)
    movups %xmm0, 16(%rax)
    movups %xmm0, -32(%rax,%rsi)
    movups %xmm0, -16(%rax,%rsi)
    ret
3:  leaq ENTRY_STATE(GC_CLASS_BYTES), %rcx
    shrl $(FINE_SHIFT - 2), %esi
    movl (%rcx,%rsi), %edx
    movq %rax, %rdi
    xorl %esi, %esi
    jmp *memset@GOTPCREL(%rip)
    COARSE_CLASS \slow
END \name
DESCRIBE \name, \slow
.endm

    .text
ALLOCATES GC_malloc_atomic, ATOMIC, gr_gc_malloc_atomic_slow
ALLOCATES_ZEROED GC_malloc, NORMAL, gr_gc_malloc_slow
ALLOCATES_ZEROED GC_malloc_uncollectable, UNCOLLECTABLE, gr_gc_malloc_uncollectable_slow
ALLOCATES GC_malloc_atomic_uncollectable, ATOMIC_UNCOLLECTABLE, gr_gc_malloc_atomic_uncollectable_slow

// As free, with the kind looked up first. What belongs to others takes the slow path.
FUNCTION GC_free
    movq %rdi, %rax
    movl ENTRY_STATE(GC_SLOT_SHIFT), %ecx
    subq ENTRY_STATE(GC_BASE), %rax
    shrq %cl, %rax
    cmpq $MOST_KINDS, %rax
    jae gr_gc_free_slow
    shll $FOUND_SHIFT, %eax
    addq ENTRY_STATE(GC_FOUND), %rax
    movq FOUND_BASE(%rax), %rdx
    movq %rdi, %rcx
    subq %rdx, %rcx
    rorq $FINE_SHIFT, %rcx
    cmpq FOUND_FINE_LIMIT(%rax), %rcx
    jae gr_gc_free_slow
    shrq $(UNIT_SHIFT - FINE_SHIFT), %rcx
    movq (%rdx,%rcx,8), %rsi
    movq %rsi, %r10
    shrq $32, %r10
    movl %r10d, %r11d
    andl $SLAB_MASK, %r10d
    BEGIN GC_free, %rcx
    cmpl %esi, %fs:(%r9)
    jne gr_gc_free_slow
    cmpl $0, %fs:CPU_ID(%r8)
    js gr_gc_free_slow
    addq FOUND_SLABS(%rax), %r11
    PUSH %r11, gr_gc_free_slow
.LGC_free_commit:
    leaq ENTRY_STATE(GC_CLASS_BYTES), %rcx
    shrl $(HEADER_SHIFT - 2), %r10d
    movl (%rcx,%r10), %r10d
    movq ENTRY_STATE(GC_FREED), %r11
    COUNT gc_count, %r10, %r11
    ret
END GC_free
DESCRIBE GC_free, gr_gc_free_slow
DESCRIBE gc_count, .Lgc_counted_elsewhere
.Lgc_counted_elsewhere:
    lock addq %r10, (%r11)
    ret

#include "libgc/entry_names.inc"

    .section .note.GNU-stack, "", @progbits

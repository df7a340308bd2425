// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the entry points that allocate and free, x86-64: the fast paths, one sequence each, no frame.
// Invariant: in every doubtful case the code jumps to the slow path, which starts over from the arguments (rdi is never
//    changed).
// Must not know: what the slow paths do. The layer above defines gr_malloc_slow, gr_new_slow and gr_free_slow.

#include "platform/rseq/macros_x86_64.inc"

    .hidden gr_sequence_state, gr_malloc_slow, gr_new, gr_new_slow, gr_free_slow

// malloc: class = (size + 15) / 16; header = slabs[cid] + 8 * class; block = last slot; commit current - 1.
// Size 0 leads to header 0, which always stays empty.
.macro ALLOCATE name, slow
FUNCTION \name
    cmpq STATE(SIZE_LIMIT), %rdi
    jae \slow
    leal 15(%rdi), %eax
    shrl $4, %eax
    BEGIN \name, %rdx
    cmpl $0, %fs:CPU_ID(%r8)
    js \slow
    movl %fs:(%r9), %ecx
    shlq $SLAB_SHIFT, %rcx
    addq STATE(SLABS), %rcx
    leaq (%rcx,%rax,HEADER_SIZE), %rcx
    STEP
    movl (%rcx), %edx
    movq LAST_SLOT(%rcx,%rdx,8), %rax
    STEP
    testq %rax, %rax
    jz \slow
    decl %edx
    movl %edx, (%rcx)
.L\name\()_commit:
    ret
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
    movq STATE(BASE), %rdx
    movq %rdi, %rax
    subq %rdx, %rax
    rorq $FINE_SHIFT, %rax
    cmpq STATE(FINE_LIMIT), %rax
    jae gr_free_slow
    shrq $(UNIT_SHIFT - FINE_SHIFT), %rax
    movq (%rdx,%rax,8), %rax
    BEGIN free, %rcx
    cmpl %eax, %fs:(%r9)
    jne gr_free_remote
    cmpl $0, %fs:CPU_ID(%r8)
    js gr_free_slow
    shrq $32, %rax
    addq STATE(SLABS), %rax
    PUSH %rax, gr_free_slow
.Lfree_commit:
    ret
END free
DESCRIBE free, gr_free_slow

// C23's free. They jump to free, so that a tool that replaces free and does not know these names, as valgrind 3.19, gets
// their blocks, too.
FUNCTION free_sized, free_aligned_sized
    jmp gr_own_free
END free_sized

// The block of another owner. This is a sequence of its own, so that each has one commit. rax holds the unit map's
// entry.
    .hidden gr_free_remote
FUNCTION gr_free_remote
    shrq $32, %rax
    andl $SLAB_MASK, %eax
    leal -HEADER_SIZE(%rax), %eax
    cmpl $(REMOTE_HEADERS - HEADER_SIZE), %eax
    ja gr_free_slow
    BEGIN free_remote, %rcx
    cmpl $0, %fs:CPU_ID(%r8)
    js gr_free_slow
    movl %fs:(%r9), %eax
    shlq $SLAB_SHIFT, %rax
    addq STATE(SLABS), %rax
    addq $REMOTE, %rax
    PUSH %rax, gr_free_slow
.Lfree_remote_commit:
    ret
END gr_free_remote
DESCRIBE free_remote, gr_free_slow

#include "platform/rseq/entry_names.inc"

    .section .note.GNU-stack, "", @progbits

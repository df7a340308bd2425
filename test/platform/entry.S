// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the entry points that allocate and free, under names that do not take the test's own malloc from it.
// Invariant: the sources of the library themselves, for the CPU that is compiled for.
// Must not know: what the entries do.

#define malloc entry_malloc
#define free entry_free
#define Lfree_commit Lentry_free_commit
#define gr_new entry_new
#define gr_own_malloc entry_own_malloc
#define gr_own_free entry_own_free
#define gr_malloc entry_gr_malloc
#define gr_free entry_gr_free
#define gr_free_sized entry_gr_free_sized
#define gr_free_aligned_sized entry_gr_free_aligned_sized
#define __libc_malloc entry_libc_malloc
#define __libc_free entry_libc_free
#define cfree entry_cfree
#define free_sized entry_free_sized
#define free_aligned_sized entry_free_aligned_sized
#define _Znwm entry_operator_new
#define _ZdlPv entry_operator_delete
#define _ZdlPvSt11align_val_t entry_operator_delete_aligned

#ifdef __x86_64__
#include "platform/rseq/entry_x86_64.S"
#else
#include "platform/rseq/entry_aarch64.S"
#endif

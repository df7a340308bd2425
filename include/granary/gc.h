/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      the C interface of Granary's collector: memory that frees itself once nothing refers to it.
 * Invariant: every function may be called from any thread after gr_gc_init; none changes errno unless it says so. The
 *            library also exports the names of <gc/gc.h>; both may be mixed in one program.
 * Must not know: how the collector works inside.
 *
 * What refers to an object: any word, at a multiple of its size, that holds an address inside the object or one past its
 * end, on the stack or in the registers of any thread, in variables of the program and its libraries, thread-local ones and
 * values of pthread keys among them, in ranges that were added, and in other objects that are traced. A word in malloc's
 * memory does not count.
 */
#ifndef GRANARY_GC_H
#define GRANARY_GC_H

#include <stddef.h>
#include <stdint.h>

#include "granary/granary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Once, before any other function here; again does nothing. It takes SIGPWR, by which threads are stopped. Returns 0, or
 * -1 and errno = ENOMEM where the process gets no addresses. */
GR_EXPORT int gr_gc_init(void);

/* Memory of at least `size` bytes (0 gives an object of its own), at a multiple of 16 bytes. It may collect first, and call
 * finalizers of others. NULL and errno = ENOMEM when there is none, even then. */

/* Zeroed, traced: what its words refer to stays. */
GR_EXPORT void *gr_gc_malloc(size_t size);
/* Not traced, not zeroed: for text, numbers, pixels. What is stored in it keeps nothing. */
GR_EXPORT void *gr_gc_malloc_atomic(size_t size);
/* Zeroed, traced and never collected: it stays, and what it refers to, until it is freed. */
GR_EXPORT void *gr_gc_malloc_uncollectable(size_t size);

/* The same memory or another with the same contents, of the same sort; what comes new is zeroed where it is traced. A
 * block of NULL is as gr_gc_malloc; a size of 0 frees it and gives NULL. On failure NULL, errno = ENOMEM, and the block is
 * as it was. Finalizers and weak links do not move with it. */
GR_EXPORT void *gr_gc_realloc(void *block, size_t size);

/* At once instead of some time; NULL is ignored. Nobody may use it any more. What is no block ends the process with a
 * message. */
GR_EXPORT void gr_gc_free(void *block);

/* The beginning of the object that the address points into; NULL: none. */
GR_EXPORT void *gr_gc_base(const void *address);
/* How many bytes the object that begins there has, at least what was asked for; 0: none begins there. */
GR_EXPORT size_t gr_gc_size(const void *block);

/* Collects now, all that nothing refers to. Returns 1; 0 when it is disabled or could not be done, and nothing changed. */
GR_EXPORT int gr_gc_collect(void);

/* From now on what is due is collected beside the program, which stands for milliseconds only, however much lives. Collections
 * that are asked for, or that memory forces, still stop it. Returns 0; -1 with errno ENOSYS where the kernel cannot tell what
 * is written (before Linux 6.7, or where userfaultfd is forbidden), and each collection stops the program, as before. */
GR_EXPORT int gr_gc_collect_beside(void);

/* Nothing is collected from the first until as often as disabled it was enabled. */
GR_EXPORT void gr_gc_disable(void);
GR_EXPORT void gr_gc_enable(void);

/* Once nothing refers to the object but `data` and other finalizers, call(object, data) is called, once, in some thread
 * that allocates or collects, without any lock; until it returns the object is whole. What its data refers to stays. An
 * object that another one with a finalizer refers to waits for that one; so one of a cycle is never called. NULL takes it
 * away. Returns 0, or -1 and errno = EINVAL where no object begins there, ENOMEM when there is no memory. */
GR_EXPORT int gr_gc_on_collect(void *object, void (*call)(void *object, void *data), void *data);

/* From now on the word at `link`, which must lie where it keeps nothing (in memory that is not traced, or hidden), becomes
 * NULL when the object is collected, before its finalizer is called. Returns 0, or -1 and errno = EINVAL or ENOMEM as
 * above. To read it safely, gr_gc_weak_get. */
GR_EXPORT int gr_gc_weak_link(void **link, const void *object);
/* 1; 0: it was no link. */
GR_EXPORT int gr_gc_weak_unlink(void **link);
/* What a link holds that holds a plain address; no collection comes between the look and the return, so that the result
 * keeps its object. */
GR_EXPORT void *gr_gc_weak_get(void *const *link);

/* Words in [begin, end) refer to objects from now on, until a range is removed that it lies in. Returns 0, or -1 and
 * errno = ENOMEM. */
GR_EXPORT int gr_gc_add_roots(const void *begin, const void *end);
GR_EXPORT void gr_gc_remove_roots(const void *begin, const void *end);

/* Quantities named *_bytes are bytes. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_gc_statistics {
    uint32_t size;                /* in: sizeof(gr_gc_statistics) of the caller; out: how much of it was filled */
    uint32_t version;             /* out: GR_GC_STATISTICS_VERSION of the library */
    uint64_t collections;         /* that were done */
    uint64_t held_bytes;          /* by blocks and what is free among them */
    uint64_t due_bytes;           /* when so much is held, the next collection comes */
    uint64_t live_bytes;          /* that the last one found worth keeping */
    uint64_t live_blocks;         /* how many */
    uint64_t freed_blocks;        /* by the last one */
    uint64_t stopped_nanoseconds; /* threads stood for it */
    uint64_t finalizers;          /* registered */
    uint64_t queued_finalizers;   /* to be called */
    uint64_t weak_links;          /* registered */
} gr_gc_statistics;

#define GR_GC_STATISTICS_VERSION 1

/* Fills *out as gr_statistics_get does. Returns 0, or -1 and errno = EINVAL when out->size is smaller than 8. */
GR_EXPORT int gr_gc_statistics_get(gr_gc_statistics *out);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the C interface of Granary's garbage collector. The collector frees an object when nothing refers to it.
 * Invariant: after gr_gc_init, every function may be called from any thread. A function changes errno only where its
 *    comment says so. The library also exports the names of <gc/gc.h>; a program may mix both interfaces.
 * Must not know: how the collector works inside.
 *
 * Which words refer to an object. The collector is conservative (Boehm, HPL-2000-165): a word that looks like a
 * pointer counts as one. A word refers to an object if it lies at an address that is a multiple of its own size, if it
 * holds an address inside the object or one past the object's end, and if it lies in one of these places:
 *   - the stack or the registers of a thread;
 *   - a variable of the program or of a library, thread-local variables included;
 *   - a value of a pthread key (pthread_setspecific);
 *   - a range that was added with gr_gc_add_roots;
 *   - another traced object that stays.
 * A word in malloc's memory does not count.
 */
#ifndef GRANARY_GC_H
#define GRANARY_GC_H

#include <stddef.h>
#include <stdint.h>

#include "granary/granary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the collector. Call it once, before every other function of this header; further calls do nothing.
 * It installs a handler for SIGPWR: the collector stops threads with this signal.
 * Returns 0, or -1 with errno = ENOMEM if the kernel refuses the address space or the handler. */
GR_EXPORT int gr_gc_init(void);

/* The three functions below return an object of at least `size` bytes at a multiple of 16 bytes. A size of 0 gives an
 * object of its own, too. Each function may first run a collection and call finalizers of other objects.
 * On failure, also after a collection: NULL with errno = ENOMEM. */

/* A zeroed, traced object: objects that its words refer to stay. */
GR_EXPORT void *gr_gc_malloc(size_t size);
/* An object that is neither traced nor zeroed, for text, numbers and pixels. Addresses in it keep nothing alive. */
GR_EXPORT void *gr_gc_malloc_atomic(size_t size);
/* A zeroed, traced object that is never collected. The object and what it refers to stay until it is freed. */
GR_EXPORT void *gr_gc_malloc_uncollectable(size_t size);

/* Changes the size of an object, in bytes. Returns the same object or a new one of the same sort with the same
 * contents; added bytes are zeroed if the object is traced. An object with a type keeps its type, and an array of typed
 * elements has as many of them as the new size has room for. A block of NULL acts as gr_gc_malloc. A size of 0 frees the
 * block and returns NULL. On failure: NULL with errno = ENOMEM, and the block is unchanged.
 * Finalizers, weak links and ephemerons do not move to the new object. */
GR_EXPORT void *gr_gc_realloc(void *block, size_t size);

/* Objects with a type. A type says which words of an object may refer to other objects; the collector looks at no other
 * word, so a number in the object that looks like an address keeps nothing alive. Make each type once: it is never
 * freed. Any thread may use it. A type belongs to no particular size: words of an object beyond the type's last bit are
 * not looked at. (Boehm's explicitly typed allocation; the same objects as GC_malloc_explicitly_typed makes.) */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_gc_type gr_gc_type;

/* Makes a type of a bitmap of `bits` bits: bit i % 64 of bitmap[i / 64] says whether the word at byte 8 * i of an object
 * may refer to an object. Returns NULL with errno = EINVAL if the bitmap is NULL although bits is not 0, or with errno =
 * ENOMEM if there is no memory. */
GR_EXPORT const gr_gc_type *gr_gc_type_of(const uintptr_t *bitmap, size_t bits);
/* Makes a type of the offsets of `count` words, in bytes from the beginning of the object, in any order; offsetof gives
 * them. Returns NULL with errno = EINVAL if an offset is no multiple of the size of a pointer or if the array is NULL
 * although count is not 0, or with errno = ENOMEM if there is no memory. */
GR_EXPORT const gr_gc_type *gr_gc_type_of_offsets(const size_t *offsets, size_t count);

/* A zeroed object of at least `size` bytes at a multiple of 16 bytes, of which only the type's words refer to objects.
 * The function may first run a collection and call finalizers of other objects. On failure, also after a collection:
 * NULL with errno = ENOMEM. */
GR_EXPORT void *gr_gc_malloc_typed(const gr_gc_type *type, size_t size);
/* A zeroed array of `count` elements of `size` bytes, in each of which only the type's words refer to objects. On failure,
 * or if the product of count and size overflows: NULL with errno = ENOMEM. */
GR_EXPORT void *gr_gc_calloc_typed(const gr_gc_type *type, size_t count, size_t size);

/* Frees the block now rather than at a later collection. NULL is ignored. The program must not use the block any more.
 * An address that is not the beginning of an object ends the process with one line on standard error. */
GR_EXPORT void gr_gc_free(void *block);

/* The beginning of the object that contains the address, or NULL if no object does. */
GR_EXPORT void *gr_gc_base(const void *address);
/* The size in bytes, at least as requested, of the object that begins at `block`; 0 if no object begins there. */
GR_EXPORT size_t gr_gc_size(const void *block);

/* Runs a complete collection now; all threads of the process stop meanwhile. Returns 1, or 0 if collections are
 * disabled or this one could not be done; then nothing was freed. */
GR_EXPORT int gr_gc_collect(void);

/* Turns on incremental collection: a collection that becomes due marks and sweeps while the program runs. It stops the
 * program only a few times, typically for a few milliseconds each, even if much memory is in use. A collection that the
 * program asks for, or that runs because memory is short, still stops the program from beginning to end.
 * Returns 0, or -1 with errno = ENOSYS if the kernel cannot report which pages were written (before Linux 6.7, or where
 * userfaultfd is forbidden). In that case every collection stops the program as before. */
GR_EXPORT int gr_gc_collect_beside(void);

/* Turns on generations. An object is old once it has survived a collection. Minor collections, which come before a
 * collection that is due, free young objects only: they scan the roots and those old objects that were written to, so their
 * cost does not grow with what the old objects hold. They stop the program for a few milliseconds. With incremental
 * collection, collections of all objects are incremental and minor collections come between them.
 * Returns 0, or -1 with errno = ENOSYS if the kernel cannot report which pages were written (before Linux 6.7, or where
 * userfaultfd is forbidden). In that case every collection is of all objects. */
GR_EXPORT int gr_gc_collect_generations(void);

/* Runs a minor collection now; a complete one where none was done since generations were turned on, or where they are
 * off. Returns as gr_gc_collect. */
GR_EXPORT int gr_gc_collect_young(void);

/* Chooses how far the heap grows between two collections, from the next collection on; the default is what
 * GRANARY_GC_POLICY says, or "proportional". The growth is:
 *   "proportional": in proportion to what must be marked, divided by GC_FREE_SPACE_DIVISOR;
 *   "growable":     the same, and the heap never becomes smaller;
 *   "fixed":        up to the size that GC_INITIAL_HEAP_SIZE or GC_expand_hp gave to the heap, and little beyond it;
 *   "square-root":  by the square root of what is in use and of how fast the program allocates, measured in CPU time.
 * Returns 0, or -1 with errno = EINVAL if no policy has this name. */
GR_EXPORT int gr_gc_set_policy(const char *name);

/* Disables all collections until gr_gc_enable has been called as often as gr_gc_disable. */
GR_EXPORT void gr_gc_disable(void);
GR_EXPORT void gr_gc_enable(void);

/* Registers a finalizer. The collector calls call(object, data) once, when only `data` and finalizers still refer to
 * the object. A thread that allocates or collects makes the call; it holds no lock of the collector. The object stays
 * complete until the call returns. While the finalizer is registered, what `data` refers to stays.
 * If another object with a finalizer refers to this one, that object's finalizer is called first. So the finalizers of
 * objects in a cycle are never called. A second call replaces the finalizer; a `call` of NULL removes it.
 * Returns 0, or -1 with errno = EINVAL if no object begins at `object`, or ENOMEM if there is no memory. */
GR_EXPORT int gr_gc_on_collect(void *object, void (*call)(void *object, void *data), void *data);

/* Makes the word at `link` a weak link: the collector sets the word to NULL when it collects the object, before it
 * calls the object's finalizer. The word must not keep the object alive itself: it must lie in memory that is not
 * traced, or hold the address in a hidden form. To read a weak link, use gr_gc_weak_get.
 * Returns 0, or -1 with errno = EINVAL if no object begins at `object` or if `link` is NULL or not aligned, or ENOMEM
 * if there is no memory. */
GR_EXPORT int gr_gc_weak_link(void **link, const void *object);
/* Returns 1, or 0 if `link` was not registered. */
GR_EXPORT int gr_gc_weak_unlink(void **link);
/* Returns the word at `link`, which must hold a plain address, not a hidden one. No collection can run between the read
 * and the return, so the result keeps its object alive. */
GR_EXPORT void *gr_gc_weak_get(void *const *link);

/* An ephemeron is an object that joins a key with a value (Hayes, OOPSLA 1997). The value stays while both the ephemeron
 * and the key stay for other reasons: what the value refers to does not keep the key, not even if the value is or refers
 * to the key. So a table of ephemerons attaches values to objects without keeping the objects.
 *
 * A collection clears the ephemeron if the key is not reached: from then on both functions below return NULL. It clears
 * all ephemerons of a key at once, while all threads are stopped, and before it calls finalizers: if only finalizers
 * still reach the key, the ephemeron is cleared, as weak links are. An object that a finalizer needs still finds the
 * values of its ephemerons, unless their keys have died. An ephemeron that nothing refers to is collected as other
 * objects are; it needs no gr_gc_free. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_gc_ephemeron gr_gc_ephemeron;

/* The value may be NULL, or no address of an object. Returns NULL with errno = EINVAL if no object begins at `key`, or
 * with errno = ENOMEM if there is no memory. The function may first run a collection. */
GR_EXPORT gr_gc_ephemeron *gr_gc_ephemeron_new(const void *key, const void *value);
/* The key, or NULL if the ephemeron was cleared. The result keeps its object alive, as that of gr_gc_weak_get does. */
GR_EXPORT void *gr_gc_ephemeron_key(const gr_gc_ephemeron *ephemeron);
/* The value, or NULL if the ephemeron was cleared. */
GR_EXPORT void *gr_gc_ephemeron_value(const gr_gc_ephemeron *ephemeron);
/* Clears the ephemeron now. */
GR_EXPORT void gr_gc_ephemeron_clear(gr_gc_ephemeron *ephemeron);

/* A hash table from objects to values, made of ephemerons: an entry stays while its key stays for other reasons, and a
 * value that refers to its key does not keep it. The table is an object that is collected with its entries once nothing
 * refers to it. Each function takes constant time in the mean, except gr_gc_weak_table_count. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_gc_weak_table gr_gc_weak_table;

/* An empty table, or NULL with errno = ENOMEM. */
GR_EXPORT gr_gc_weak_table *gr_gc_weak_table_new(void);
/* Adds an entry, or gives the key's entry another value. Returns 0, or -1 with errno = EINVAL if no object begins at
 * `key`, or ENOMEM if there is no memory. The function may first run a collection. */
GR_EXPORT int gr_gc_weak_table_set(gr_gc_weak_table *table, const void *key, const void *value);
/* The key's value, or NULL if the table has no entry of the key. */
GR_EXPORT void *gr_gc_weak_table_get(gr_gc_weak_table *table, const void *key);
/* Returns 1, or 0 if the table had no entry of the key. */
GR_EXPORT int gr_gc_weak_table_remove(gr_gc_weak_table *table, const void *key);
/* How many entries the table has. Takes time linear in them. */
GR_EXPORT size_t gr_gc_weak_table_count(gr_gc_weak_table *table);

/* From now on, words in [begin, end) refer to objects. Returns 0, or -1 with errno = ENOMEM. */
GR_EXPORT int gr_gc_add_roots(const void *begin, const void *end);
/* Removes every added range that lies completely in [begin, end). */
GR_EXPORT void gr_gc_remove_roots(const void *begin, const void *end);

/* Fields named *_bytes are bytes; the others are counts if nothing else is said. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_gc_statistics {
    uint32_t size;                /* in: sizeof(gr_gc_statistics) of the caller; out: how much of it was filled */
    uint32_t version;             /* out: GR_GC_STATISTICS_VERSION of the library */
    uint64_t collections;         /* completed collections */
    uint64_t held_bytes;          /* memory in use: objects, and the free memory between them */
    uint64_t due_bytes;           /* the next collection is due when about this much is held */
    uint64_t live_bytes;          /* in objects that the last collection kept */
    uint64_t live_blocks;         /* objects that the last collection kept */
    uint64_t freed_blocks;        /* objects that the last collection freed */
    uint64_t stopped_nanoseconds; /* how long the last collection stopped the threads; if incremental, at its end */
    uint64_t finalizers;          /* registered finalizers */
    uint64_t queued_finalizers;   /* finalizers that wait to be called */
    uint64_t weak_links;          /* registered weak links */
    uint64_t ephemerons;          /* ephemerons that were not cleared, since version 2 */
} gr_gc_statistics;

#define GR_GC_STATISTICS_VERSION 2

/* Fills *out. Set out->size = sizeof(gr_gc_statistics) first; a library that knows more or fewer fields fills the
 * common part. Returns 0, or -1 with errno = EINVAL if out is NULL or out->size is smaller than 8. */
GR_EXPORT int gr_gc_statistics_get(gr_gc_statistics *out);

#ifdef __cplusplus
}
#endif

#endif

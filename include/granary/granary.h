/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the C interface of Granary beyond the libc family (which <stdlib.h> declares): statistics, options, and
 *    first-class heaps.
 * Invariant: any thread may call any function at any time, also before main and in the child after fork, unless its
 *    comment says otherwise. A function changes errno only where its comment says so.
 * Must not know: how the allocator works inside.
 */
#ifndef GRANARY_GRANARY_H
#define GRANARY_GRANARY_H

#include <stddef.h>
#include <stdint.h>

#define GR_VERSION_MAJOR 0
#define GR_VERSION_MINOR 1
#define GR_VERSION_PATCH 0
/* Compare with gr_version(): major * 1000000 + minor * 1000 + patch. */
#define GR_VERSION (GR_VERSION_MAJOR * 1000000 + GR_VERSION_MINOR * 1000 + GR_VERSION_PATCH)

#if defined(__GNUC__)
#define GR_EXPORT __attribute__((visibility("default")))
#else
#define GR_EXPORT
#endif
#if defined(__cplusplus)
#define GR_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define GR_NODISCARD __attribute__((warn_unused_result))
#else
#define GR_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library in use, encoded like GR_VERSION. The symbol exists only if the program runs on Granary, so
 * a weak reference to it tells whether it does. */
GR_EXPORT uint32_t gr_version(void);

/* A snapshot of the heap. Fields named *_bytes count bytes; the other fields are counts, unless their comment names
 * another unit.
 *
 * The library counts on demand, from bitmaps, magazines and descriptors; the fast paths count nothing. While other
 * threads allocate, the numbers of one superblock agree, but not those of the whole heap. In a heap at rest:
 *
 *   block_bytes = (live_bytes - run_bytes - direct_bytes) + magazine_bytes + remote_bytes + free_bytes
 *                                                                                 (the counting equation, times size)
 *   heap_bytes  = block_bytes + tail_bytes + run_bytes
 *
 * resident_bytes is at most heap_bytes + retained_bytes + metadata_bytes + direct_bytes plus the memory outside
 * Granary. It is less if pages were never touched, which only the kernel knows; `granary why PID` asks the kernel.
 * Granary does not store the sizes that the program requested, so live_bytes counts usable bytes. For huge_bytes the
 * kernel walks the page tables of the process, which takes longer than everything else; a caller whose `size` ends
 * before that field does not pay for it.
 */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_statistics {
    uint32_t size;           /* in: sizeof(gr_statistics) of the caller; out: the bytes that were filled */
    uint32_t version;        /* out: GR_STATISTICS_VERSION of the library */
    uint64_t live_bytes;     /* in use by the program, in usable bytes: blocks, runs and direct mappings */
    uint64_t live_blocks;    /* the number of these */
    uint64_t block_bytes;    /* all blocks of all superblocks, in any state */
    uint64_t magazine_bytes; /* free blocks cached in magazines and messages (Bonwick's magazines) */
    uint64_t remote_bytes;   /* freed on another concurrency id, not yet collected by the owner (LFMalloc 3.2.3) */
    uint64_t free_bytes;     /* blocks that are set in the free bitmaps of superblocks */
    uint64_t run_bytes;      /* blocks in use above the largest size class: runs of whole units */
    uint64_t run_count;
    uint64_t direct_bytes; /* blocks in use that are mapped directly from the kernel */
    uint64_t direct_count;
    uint64_t retained_bytes;     /* empty units that may still be resident, kept for the next request */
    uint64_t metadata_bytes;     /* committed for the allocator's own tables (an upper bound of their resident part) */
    uint64_t reserved_bytes;     /* reserved address space (VSZ, not RSS) */
    uint64_t heap_bytes;         /* address space of the units in use */
    uint64_t superblocks;        /* in use, in heaps and in the global heap */
    uint64_t global_superblocks; /* those in the global heap */
    uint64_t heaps;              /* heaps used so far */
    uint64_t purged_bytes;       /* returned to the kernel since the start */
    uint64_t purge_calls;        /* system calls that returned them */
    uint64_t rseq;               /* 1: magazines use restartable sequences; 0: each call takes a lock */
    uint64_t peak_heap_bytes;    /* maximum of heap_bytes + retained_bytes so far */
    uint64_t peak_direct_bytes;  /* maximum of direct_bytes so far */
    uint64_t tail_bytes;         /* ends of superblocks that no block covers */
    uint64_t resident_bytes;     /* of the whole process, as the kernel counts them (RSS); 0: unknown */
    uint64_t huge_bytes;         /* part of resident_bytes in anonymous huge pages */
    uint64_t reuse_bytes;        /* part of retained_bytes that the reuse allowance keeps (GRANARY_REUSE) */
    uint64_t reuse_seconds;      /* seconds since the reuse allowance was last 0 */
} gr_statistics;

#define GR_STATISTICS_VERSION 1

/* Fills *out. Set out->size = sizeof(gr_statistics) first; a library that knows more or fewer fields fills the common
 * part. Takes no lock. Not for signal handlers.
 * Returns 0, or -1 with errno = EINVAL if out is NULL or out->size is smaller than 8. */
GR_EXPORT int gr_statistics_get(gr_statistics *out);

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef enum gr_format { GR_TEXT = 0, GR_JSON = 1 } gr_format;

/* Writes the statistics to the file descriptor. Does not allocate. Returns 0, or -1 with errno from write(2). */
GR_EXPORT int gr_statistics_print(int fd, gr_format format);

/* Returns the empty memory of every heap and every magazine to the kernel, except about keep_bytes of it. Returns the
 * number of bytes returned to the kernel. Calls membarrier(2), which a seccomp filter must allow or refuse without
 * killing the process. If membarrier is refused or missing (before Linux 5.10), the magazines of other concurrency ids
 * stay as they are. */
GR_EXPORT size_t gr_trim(size_t keep_bytes);

/* Registers a function for the soft limit of GRANARY_LIMIT. Whenever the memory that Granary holds rises above the
 * limit, the thread whose request raised it calls call(context, held_bytes) before that request returns. The next call
 * comes only after the memory held has fallen 1/16 below the limit. No lock is held, so the function may allocate and
 * free. It must preserve errno. Call gr_on_pressure before the program has threads. NULL removes the function. */
GR_EXPORT void gr_on_pressure(void (*call)(void *context, size_t held_bytes), void *context);

/* 1 if pointer is a block of malloc that is not known to be free, else 0. A block that lies in a magazine still counts,
 * because only its owner's lock would tell. A block of a first-class heap does not count. */
GR_EXPORT int gr_owns(const void *pointer);

/* How full the superblock of a block is, for programs that move blocks to return memory. All fields but block_bytes
 * count blocks. A block that the program freed counts as used until it is back in its superblock (it may lie in a
 * magazine or in a message). A run of units and a direct mapping count as 1 block of 1. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_utilization {
    uint64_t block_bytes;       /* usable size of the block, equal for all blocks of its size class */
    uint64_t superblock_blocks; /* blocks in its superblock */
    uint64_t superblock_used;   /* how many of these are used */
    uint64_t class_blocks;      /* blocks in all superblocks of its size class, in all heaps and the global heap */
    uint64_t class_used;        /* how many of these are used */
    /* 1: the superblock is less full than the average of its size class, and the other superblocks have room for all of
     * its blocks: moving the blocks there empties it. Allocate the new places of many blocks before you free the first
     * old block, because a magazine hands out first what was freed last. */
    uint64_t move_helps;
} gr_utilization;

/* Fills *out for the block at pointer. Takes no lock, and its cost does not grow with the heap. While other threads
 * allocate, the counts are hints.
 * Returns 0, or -1 with errno = EINVAL if pointer is not the first address of a block, if the block is known to be
 * free, or if out is NULL. */
GR_EXPORT int gr_page_utilization(const void *pointer, gr_utilization *out);

/* Writes one line for each option (GRANARY_<NAME> in the environment, see granary-options(7)): name, value, where the
 * value comes from, unit, meaning. Returns 0, or -1 with errno from write(2). */
GR_EXPORT int gr_options_print(int fd, gr_format format);

/* Copies the value of the option called name to value. The name has no GRANARY_ and may be in upper or lower case. The
 * copy is terminated and cut to capacity bytes. A value longer than 64 bytes, which only a path can have, is cut to 64.
 * Returns the length of the value, or -1 with errno = ENOENT. */
GR_EXPORT int gr_option_get(const char *name, char *value, size_t capacity);

/* Checks every structure of every heap. Returns NULL if all are valid, else what is wrong, in English. Takes every lock
 * and walks all tables: for tests, and for finding memory corruption. */
GR_EXPORT const char *gr_debug_check(void);

/* A first-class heap is an allocator of its own beside malloc, in address space of its own. Any thread may allocate
 * from any heap and free to it, at any time. A call takes a lock, but hardly ever waits for it. When a heap is
 * destroyed, all its blocks go with it. A block that is given to another heap or to free, and a block of malloc that is
 * given to a first-class heap, abort the program with a line that says so. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_heap gr_heap;

/* Makes a heap that reserves at most reserve_bytes of address space for its blocks (VSZ, not RSS). 0 means 16 GiB, or
 * 1/64 of RLIMIT_AS if that is less. A block that does not fit is mapped directly from the kernel, like every block
 * larger than GRANARY_DIRECT. The options RETAIN, REUSE, DIRECT, MAGAZINE and HUGE_PAGES hold for each heap.
 * Returns NULL with errno = ENOMEM if there is no memory, and in a signal handler that interrupted the allocator. */
GR_NODISCARD GR_EXPORT gr_heap *gr_heap_new(size_t reserve_bytes);

/* Returns everything to the kernel: the heap and all its blocks, in use or not. No thread may use them during the call
 * or later. NULL is ignored. Not for signal handlers. */
GR_EXPORT void gr_heap_destroy(gr_heap *heap);

/* Like malloc, calloc, aligned_alloc, realloc, free and malloc_usable_size, on a first-class heap. Those that allocate
 * return NULL with errno = ENOMEM if there is no memory (gr_heap_aligned_alloc also EINVAL, for an impossible
 * alignment). */
GR_NODISCARD GR_EXPORT void *gr_heap_malloc(gr_heap *heap, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_calloc(gr_heap *heap, size_t count, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_aligned_alloc(gr_heap *heap, size_t alignment, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_realloc(gr_heap *heap, void *block, size_t size);
GR_EXPORT void gr_heap_free(gr_heap *heap, void *block);
GR_EXPORT size_t gr_heap_usable_size(gr_heap *heap, void *block);

/* Like gr_trim and gr_statistics_get, which know the heap of malloc only. */
GR_EXPORT size_t gr_heap_trim(gr_heap *heap, size_t keep_bytes);
GR_EXPORT int gr_heap_statistics_get(gr_heap *heap, gr_statistics *out);

#ifdef __cplusplus
}
#endif

#endif

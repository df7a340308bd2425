/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the C interface of Granary beyond the libc family (which <stdlib.h> declares): statistics, options, and
 *    first-class heaps. The family under names of Granary's own is in granary/malloc.h.
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
 * a weak reference to it tells whether it does. libgranary-prefixed has the symbol, too, and then it tells that the names
 * gr_* exist, but nothing of malloc. A program that is linked with one of the two libraries gets the names gr_* of that
 * one. */
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
    uint64_t reserved_bytes;     /* mapped or reserved address space (VSZ, not RSS) */
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
    uint64_t lazy_bytes;         /* part of retained_bytes that the kernel may take back (MADV_FREE) */
    uint64_t free_blocks;        /* the number of blocks in free_bytes */
    uint64_t magazine_blocks;    /* the number of blocks in magazine_bytes */
} gr_statistics;

#define GR_STATISTICS_VERSION 1

/* Fills *out. Set out->size = sizeof(gr_statistics) first; a library that knows more or fewer fields fills the common
 * part. Takes no lock. Not for signal handlers.
 * Returns 0, or -1 with errno = EINVAL if out is NULL or out->size is smaller than 8. */
GR_EXPORT int gr_statistics_get(gr_statistics *out);

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef enum gr_format { GR_TEXT = 0, GR_JSON = 1, GR_PROMETHEUS = 2 } gr_format;

/* Writes the statistics to the file descriptor: as a table, as a JSON object, or in the text format that Prometheus
 * reads (exposition format 0.0.4). JSON and Prometheus also get the statistics of each size class that has superblocks.
 * Does not allocate. Not for signal handlers. Returns 0, or -1 with errno from write(2). */
GR_EXPORT int gr_statistics_print(int fd, gr_format format);

/* A first-class heap; see gr_heap_new. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_heap gr_heap;

/* What a row of gr_class_statistics_get describes. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef enum gr_class_kind {
    GR_CLASS_BLOCKS = 0, /* one size class */
    GR_CLASS_RUNS = 1,   /* the blocks above the largest size class that are runs of whole units */
    GR_CLASS_DIRECT = 2  /* the blocks that are mapped directly from the kernel */
} gr_class_kind;

/* The statistics of one size class, of all runs, or of all direct blocks. Fields that say nothing of runs and direct
 * blocks are 0 there. In a heap at rest each sum over the rows is the field of gr_statistics:
 *
 *   live_blocks, live_bytes, magazine_blocks, free_blocks, superblocks, global_superblocks: the field of that name
 *   remote_blocks * block_size: remote_bytes          address_bytes: heap_bytes + direct_bytes
 *
 * and in each size class
 *
 *   superblocks * superblock_blocks = live_blocks + magazine_blocks + remote_blocks + free_blocks
 */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_class_statistics {
    uint32_t size;               /* in (first row): sizeof(gr_class_statistics) of the caller; out: bytes filled */
    uint32_t version;            /* out: GR_CLASS_STATISTICS_VERSION of the library */
    uint64_t kind;               /* a gr_class_kind */
    uint64_t block_size;         /* usable bytes of each block; 0 where they differ */
    uint64_t superblock_blocks;  /* blocks of one superblock */
    uint64_t superblocks;        /* in use, in heaps and in the global heap */
    uint64_t global_superblocks; /* those in the global heap */
    uint64_t live_blocks;        /* in use by the program */
    uint64_t live_bytes;         /* their usable bytes */
    uint64_t magazine_blocks;    /* free blocks cached in magazines and messages */
    uint64_t remote_blocks;      /* freed on another concurrency id, not yet collected by the owner */
    uint64_t free_blocks;        /* blocks that are set in the free bitmaps of superblocks */
    uint64_t address_bytes;      /* address space of its superblocks, runs or direct mappings */
} gr_class_statistics;

#define GR_CLASS_STATISTICS_VERSION 1

/* Fills rows[0] to rows[capacity - 1], as far as there are so many: one row for each size class from the smallest to the
 * largest, then one for runs, then one for direct blocks. heap: a first-class heap, or NULL for the heap of malloc. Set
 * rows[0].size = sizeof(gr_class_statistics) first; each row then has that distance from the next, and a library that
 * knows more or fewer fields fills the common part of each. All rows are of one moment, with the reservations of
 * gr_statistics_get. If capacity is 0, rows may be NULL. Takes no lock. Not for signal handlers.
 * Returns the number of rows that there are, or -1 with errno = EINVAL if rows is NULL and capacity is not 0, or if
 * rows[0].size is smaller than 8 or no multiple of 8. */
GR_EXPORT int gr_class_statistics_get(gr_heap *heap, gr_class_statistics *rows, size_t capacity);

/* From now on calls call(context, statistics) about every so many milliseconds, at least 1, with statistics of the heap
 * of malloc. In place of huge_bytes there is 0, since the kernel takes long to count them. There is one such function in
 * a process: another call of gr_statistics_every replaces it, and NULL removes it. When gr_statistics_every returns, the
 * former function has returned and is not called any more, unless it was this function that called gr_statistics_every.
 * So do not hold a lock that the function takes.
 *
 * The function is called on a thread of the library's, the one of GRANARY_BACKGROUND, with all signals blocked and a
 * stack of 256 KiB. It holds no lock of the allocator: it may allocate and free, and it may call every function of this
 * header. It must return: no exception, no longjmp, no pthread_exit. It must not fork. While it runs, GRANARY_BACKGROUND
 * and GRANARY_STATS_FILE wait. The calls end when the thread that runs main ends alone (pthread_exit). They go on
 * while exit runs: remove the function before what it uses is destroyed. A child of fork has no such function until it
 * calls gr_statistics_every.
 *
 * Without such a function, GRANARY_BACKGROUND and GRANARY_STATS_FILE there is no thread. The call that needs the thread
 * first must come from the thread that runs main (in a child of fork: from the thread that called fork), because the
 * library's thread must notice when that one ends. Not for signal handlers.
 * Returns 0, or -1 with errno = EINVAL if there is a function but no millisecond, EPERM if another thread than that of
 * main is the first, or EAGAIN if there can be no thread. */
GR_EXPORT int gr_statistics_every(unsigned milliseconds, void (*call)(void *context, const gr_statistics *statistics),
                                  void *context);

/* Returns the empty memory of every heap and every magazine to the kernel, except about keep_bytes of it. Returns the
 * number of bytes returned to the kernel. Calls membarrier(2), which a seccomp filter must allow or refuse without
 * killing the process. If membarrier is refused or missing (before Linux 5.10), the magazines of other concurrency ids
 * stay as they are. */
GR_EXPORT size_t gr_trim(size_t keep_bytes);

/* Registers a function for the soft limit of GRANARY_LIMIT. Whenever the memory that Granary holds rises above the
 * limit, one thread calls call(context, held_bytes) before its request returns: mostly the thread whose request raised
 * it. The next call comes only after the memory held has fallen 1/16 below the limit. No lock is held, so the function
 * may allocate and free. It must preserve errno. Call gr_on_pressure before the program has threads. NULL removes the
 * function. */
GR_EXPORT void gr_on_pressure(void (*call)(void *context, size_t held_bytes), void *context);

/* The bytes that a block of malloc for a request of `size` bytes has: what malloc_usable_size says of it. A program that
 * asks for so much at once wastes nothing by rounding. Large sizes are rounded less where addresses are scarce, so the
 * answer may change as the process grows. 0 for sizes that malloc refuses. Does not allocate. */
GR_EXPORT size_t gr_good_size(size_t size);

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

/* A program may define this variable at file level: it has options for this program, in the form of an options file (see
 * granary-options(7)), separated by semicolons or newlines: const char *gr_options = "retain=64M; limit=1G,2G"; The
 * options file, the environment and gr_option_set override it. The library reads it once, before main. It is found if the
 * program is linked with libgranary; for a preloaded library link the program with -rdynamic. */
GR_EXPORT extern const char *gr_options;

/* Writes one line for each option (GRANARY_<NAME> in the environment, see granary-options(7)): name, value, where the
 * value comes from (default, program, file, environment, or run-time for gr_option_set), whether gr_option_set can change
 * it (changeable or fixed), unit, meaning. Returns 0, or -1 with errno from write(2). */
GR_EXPORT int gr_options_print(int fd, gr_format format);

/* Copies the value of the option called name to value. The name has no GRANARY_ and may be in upper or lower case. The
 * copy is terminated and cut to capacity bytes: 64 are enough for all values but paths.
 * Returns the length of the value, which may be more than was copied, or -1 with errno = ENOENT. */
GR_EXPORT int gr_option_get(const char *name, char *value, size_t capacity);

/* Changes an option while the program runs. The name is as for gr_option_get, the value as in the environment. Options
 * that can be changed: STATS, VERBOSE, RETAIN, REUSE, DIRECT, MAGAZINE, LIMIT, BACKGROUND. When the function returns, the
 * new value holds, and empty memory beyond it was returned to the kernel; what the program holds stays. RETAIN, REUSE,
 * DIRECT and MAGAZINE hold for every first-class heap, too. May be called by several threads at once. Lowering LIMIT calls
 * membarrier(2), as gr_trim does.
 * Returns 0, or -1, and then nothing was changed; errno is
 *   ENOENT  there is no such option;
 *   EPERM   the option cannot be changed while the program runs, or not in this program: BACKGROUND=on is for the main
 *           thread, unless the thread of the library was wanted before, also by gr_statistics_every; PROFILE is for
 *           gr_profile_start and gr_profile_stop; DIRECT cannot be changed when a collector serves malloc;
 *   EINVAL  the value is malformed or NULL, or the hard limit of LIMIT leaves no room beside the allocator's own tables;
 *   EBADF   STATS: standard error is closed;
 *   EBUSY   the caller is a signal handler that interrupted the allocator, or the allocator could not start. */
GR_EXPORT int gr_option_set(const char *name, const char *value);

/* Checks every structure of every heap. Returns NULL if all are valid, else what is wrong, in English. Takes every lock
 * and walks all tables: for tests, and for finding memory corruption. */
GR_EXPORT const char *gr_debug_check(void);

/* A first-class heap is an allocator of its own beside malloc, in address space of its own. Any thread may allocate
 * from any heap and free to it, at any time. A call takes a lock, but hardly ever waits for it. When a heap is
 * destroyed, all its blocks go with it. A block that is given to another heap or to free, and a block of malloc that is
 * given to a first-class heap, abort the program with a line that says so. */

/* Makes a heap that reserves at most reserve_bytes of address space for its blocks (VSZ, not RSS). 0 means 16 GiB, or
 * 1/64 of RLIMIT_AS if that is less. A block that does not fit is mapped directly from the kernel, like every block
 * larger than GRANARY_DIRECT. The options RETAIN, REUSE, DIRECT, MAGAZINE and HUGE_PAGES hold for each heap; gr_option_set
 * changes them for heaps that exist and for those that are made later.
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

/* Like gr_aligned_calloc, gr_aligned_realloc and gr_resize_in_place of granary/malloc.h, on a first-class heap. */
GR_NODISCARD GR_EXPORT void *gr_heap_aligned_calloc(gr_heap *heap, size_t alignment, size_t count, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_aligned_realloc(gr_heap *heap, void *block, size_t alignment, size_t size);
GR_EXPORT size_t gr_heap_resize_in_place(gr_heap *heap, void *block, size_t least, size_t wanted);

/* Like gr_trim and gr_statistics_get, which know the heap of malloc only. */
GR_EXPORT size_t gr_heap_trim(gr_heap *heap, size_t keep_bytes);
GR_EXPORT int gr_heap_statistics_get(gr_heap *heap, gr_statistics *out);

/* Calls call(context, block, usable_size) for each block in use, until it returns something other than 0. heap: a
 * first-class heap, or NULL for the heap of malloc. Blocks of every size are visited, in no particular order; free
 * blocks are not, wherever they lie (magazines, messages, superblocks).
 *
 * Any thread may allocate and free meanwhile. A block that is in use from the beginning of the walk to its end is visited
 * exactly once, and a block that is free all that time is not visited. A block that is allocated or freed meanwhile may
 * be visited or not. realloc counts as freeing and allocating, also where the block stays in its place. So only a program
 * whose other threads do not free may read what a visited block holds.
 *
 * No lock is held while call runs. It may allocate, it may free the block that it is given and blocks that were visited
 * before, and it may begin another walk. It must not free a block that is not visited yet, because that block may
 * still be visited. It must return: no exception, no longjmp. Nobody may destroy the heap meanwhile.
 *
 * Between calls, once for 64 MiB of the heap, all locks of the heap are taken for a moment to copy which blocks are in
 * use. With restartable sequences the library then also stops these by membarrier(2), which a seccomp filter must allow
 * or refuse without killing the process. Not for signal handlers.
 * Returns 0, or what call returned to end the walk (choose a positive number), or -1 with errno = EINVAL if call is NULL,
 * ENOMEM if there is no memory for the copy (about half a MiB), ENOTSUP if membarrier cannot stop restartable
 * sequences (before Linux 5.10; GRANARY_RSEQ=off helps), or EBUSY in a signal handler that interrupted the allocator. */
GR_EXPORT int gr_heap_walk(gr_heap *heap, int (*call)(void *context, void *block, size_t usable_size), void *context);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      the C interface of Granary beyond the libc family (which <stdlib.h> declares): statistics, options, and
 *            first-class heaps.
 * Invariant: every function may be called from any thread at any time, also before main and inside fork's child;
 *            none of them changes errno unless it says so.
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

/* The version of the library that is in use, encoded as GR_VERSION. Present exactly when the program runs on Granary:
 * a weak reference to it tells. */
GR_EXPORT uint32_t gr_version(void);

/* A snapshot of the heap. All quantities named *_bytes are bytes, the others are counts.
 * It is counted on demand from bitmaps, magazines and descriptors; nothing is counted on the fast path, so a snapshot
 * taken while other threads allocate is consistent superblock by superblock, not as a whole.
 *
 *   block_bytes = (live_bytes - run_bytes - direct_bytes) + magazine_bytes + remote_bytes + free_bytes
 *                                                                                 (the counting equation, times size)
 *   heap_bytes  = block_bytes + tail_bytes + run_bytes
 *
 * So resident_bytes is at most heap_bytes + retained_bytes + metadata_bytes + direct_bytes + what is not Granary's;
 * less where pages were never touched, which only the kernel knows: `granary why PID` asks it and splits to the byte.
 * Usable bytes minus requested bytes cannot be told: nobody keeps what was requested.
 * For huge_bytes the kernel walks the page tables of the process, which takes longer than all else; a caller whose size
 * ends before it does not pay for it.
 */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_statistics {
    uint32_t size;           /* in: sizeof(gr_statistics) of the caller; out: how much of it was filled */
    uint32_t version;        /* out: GR_STATISTICS_VERSION of the library */
    uint64_t live_bytes;     /* handed to the program, in usable bytes: blocks, runs and direct mappings */
    uint64_t live_blocks;    /* how many of them */
    uint64_t block_bytes;    /* all blocks of all superblocks, whatever their state */
    uint64_t magazine_bytes; /* blocks cached in magazines, own and remote (Bonwick; design: cached) */
    uint64_t remote_bytes;   /* freed by strangers and not yet collected by the owner (LFMalloc 3.2.3) */
    uint64_t free_bytes;     /* set in the free bitmaps of superblocks */
    uint64_t run_bytes;      /* live runs of whole units, for blocks above the largest size class */
    uint64_t run_count;
    uint64_t direct_bytes; /* live blocks mapped directly from the kernel */
    uint64_t direct_count;
    uint64_t retained_bytes;     /* empty units that may still be resident, kept for the next request */
    uint64_t metadata_bytes;     /* committed for the allocator's own tables (an upper bound of their resident part) */
    uint64_t reserved_bytes;     /* address space reserved (VSZ, not RSS) */
    uint64_t heap_bytes;         /* address space of the units in use: their number times their size */
    uint64_t superblocks;        /* in use, in heaps and in the global heap */
    uint64_t global_superblocks; /* those in the global heap */
    uint64_t heaps;              /* heaps that hold or held a superblock */
    uint64_t purged_bytes;       /* given back to the kernel since the start */
    uint64_t purge_calls;        /* system calls that gave them back */
    uint64_t rseq;               /* 1: magazines are popped and pushed by restartable sequences; 0: under trylocks */
    uint64_t peak_heap_bytes;    /* the most that heap_bytes + retained_bytes ever was */
    uint64_t peak_direct_bytes;  /* the most that direct_bytes ever was */
    uint64_t tail_bytes;         /* at the ends of superblocks, which no block covers */
    uint64_t resident_bytes;     /* of the whole process, as the kernel counts them (RSS); 0: it does not tell */
    uint64_t huge_bytes;         /* of these in anonymous huge pages */
    uint64_t breath_bytes;       /* of retained_bytes: stay since the program keeps taking them again */
    uint64_t breath_seconds;     /* since when some do */
} gr_statistics;

#define GR_STATISTICS_VERSION 1

/* Fills *out. Set out->size = sizeof(gr_statistics) first; a library that knows more or fewer fields fills the common
 * part. Returns 0, or -1 and errno = EINVAL when out is NULL or out->size is smaller than 8. Takes no lock. */
GR_EXPORT int gr_statistics_get(gr_statistics *out);

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef enum gr_format { GR_TEXT = 0, GR_JSON = 1 } gr_format;

/* Writes the statistics to the file descriptor. Returns 0, or -1 with errno from write(2). Does not allocate. */
GR_EXPORT int gr_statistics_print(int fd, gr_format format);

/* Gives empty memory back to the kernel, of every heap and of every CPU's magazines; keeps about keep_bytes of it.
 * Returns the number of bytes given back. It calls membarrier(2), which a program's seccomp filter must allow or refuse
 * without killing; refused, or on a kernel without it (Linux 5.10), other CPUs' magazines stay as they are. */
GR_EXPORT size_t gr_trim(size_t keep_bytes);

/* From now on call(context, held_bytes) is called whenever the memory that Granary holds goes above the soft limit of
 * GRANARY_LIMIT, by the thread whose request took it there, before that request returns, and again only after what is
 * held had fallen a sixteenth below. No lock is held, and no part of Granary is interrupted: the function may free and
 * allocate; it must leave errno as it was. To be called before the program has threads, or to end it with NULL. */
GR_EXPORT void gr_on_pressure(void (*call)(void *context, size_t held_bytes), void *context);

/* 1 when pointer is a block of malloc's that has not been freed as far as can be told without the owner's lock (a
 * block lying in a magazine still counts as owned); else 0, also for blocks of first-class heaps. */
GR_EXPORT int gr_owns(const void *pointer);

/* How full the superblock is that a block lies in, for programs that move blocks to give memory back. Counts are of
 * blocks, but for block_bytes. What the program freed and its owner has not taken back yet (magazines, frees by
 * strangers) counts as used, in all of them alike. A block that is no superblock's (a run of units, a direct mapping)
 * is a whole of its own: 1 of 1. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_utilization {
    uint64_t block_bytes;       /* usable size of the block, the same for all blocks of its size class */
    uint64_t superblock_blocks; /* in its superblock */
    uint64_t superblock_used;
    uint64_t class_blocks; /* in all superblocks of its class, in all heaps and the global heap */
    uint64_t class_used;
    /* 1: its superblock is less full than its class's are on average, and the others have room for all of its blocks:
     * to move them there empties it. Allocate the new places of many blocks before the first old one is freed, else a
     * magazine hands the old places out again. */
    uint64_t move_helps;
} gr_utilization;

/* Fills *out for the block at pointer. Returns 0, or -1 and errno = EINVAL when pointer is not (the first address of) a
 * block that Granary handed out, or is known to be free, or out is NULL. Takes no lock; while other threads allocate,
 * the counts are hints. Its cost does not grow with the heap. */
GR_EXPORT int gr_page_utilization(const void *pointer, gr_utilization *out);

/* The options (GRANARY_<NAME> in the environment), see granary-options(7). Writes one line for each: name, value,
 * where the value comes from, unit, meaning. Returns 0, or -1 with errno from write(2). */
GR_EXPORT int gr_options_print(int fd, gr_format format);

/* Copies the value of the option called name (without GRANARY_, any case) to value, always terminated. Returns the
 * length of the whole value, or -1 and errno = ENOENT. */
GR_EXPORT int gr_option_get(const char *name, char *value, size_t capacity);

/* NULL when every structure of every heap is valid, else what is wrong, in English. Takes every lock and walks the
 * whole of each: for tests and for hunting memory corruption. */
GR_EXPORT const char *gr_debug_check(void);

/* First-class heaps: allocators of their own beside malloc's, in address space of their own. Any thread may allocate
 * from any of them and free to it, at any time; whatever is left goes at once when the heap is destroyed. A call takes
 * a lock, but hardly ever waits for one. A block of one heap given to another, or to free, or one of malloc's given to
 * a heap, ends the program with a line that says so. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_heap gr_heap;

/* A heap that reserves at most reserve_bytes of address space for its blocks (no memory: VSZ, not RSS), or 16 GiB for
 * 0 (under an RLIMIT_AS a 64th of it at most). What does not fit is mapped from the kernel block by block, as what is
 * larger than GRANARY_DIRECT is in any heap. It goes by the options RETAIN, DIRECT, MAGAZINE and HUGE_PAGES as they
 * stand. NULL and errno = ENOMEM when there is no memory, and in a signal handler that interrupted the allocator. */
GR_NODISCARD GR_EXPORT gr_heap *gr_heap_new(size_t reserve_bytes);

/* Gives everything back to the kernel: live blocks, those that were mapped one by one, the heap itself. Nobody may be
 * using any of it. NULL is no heap and none is destroyed. Not to be called from a signal handler. */
GR_EXPORT void gr_heap_destroy(gr_heap *heap);

/* As malloc, calloc, aligned_alloc, realloc, free and malloc_usable_size of the libc family, with a heap. */
GR_NODISCARD GR_EXPORT void *gr_heap_malloc(gr_heap *heap, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_calloc(gr_heap *heap, size_t count, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_aligned_alloc(gr_heap *heap, size_t alignment, size_t size);
GR_NODISCARD GR_EXPORT void *gr_heap_realloc(gr_heap *heap, void *block, size_t size);
GR_EXPORT void gr_heap_free(gr_heap *heap, void *block);
GR_EXPORT size_t gr_heap_usable_size(gr_heap *heap, void *block);

/* As gr_trim and gr_statistics_get, which tell of malloc's heap only. */
GR_EXPORT size_t gr_heap_trim(gr_heap *heap, size_t keep_bytes);
GR_EXPORT int gr_heap_statistics_get(gr_heap *heap, gr_statistics *out);

#ifdef __cplusplus
}
#endif

#endif

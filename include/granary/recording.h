/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      the memory that a recorded process and the process that records it share: rings that threads fill with what
 *            they allocate and free, and that the recorder empties.
 * Invariant: of each word it says who writes it; what one side publishes by a release store, the other reads by an acquire
 *            load. A process that is killed leaves whole records. Nothing here points into a process.
 * Must not know: how records are kept (docs/trace-format.md); which allocator serves.
 *
 * The shared memory is a file without a name, which the recorder keeps open. A process finds its path in GR_RECORDING_PATH,
 * opens it, maps the control part, takes an entry in the table of processes, and for each of its threads a ring.
 *
 *     gr_recording | gr_recorded_process[processes] | gr_recording_ring[rings] | records of ring 0 | of ring 1 | ...
 */
#ifndef GRANARY_RECORDING_H
#define GRANARY_RECORDING_H

#include <stdint.h>

/* The environment variable with the path, and what a process refuses if it is another. */
#define GR_RECORDING_PATH "GRANARY_RECORDING"
#define GR_RECORDING_MAGIC UINT64_C(0x5e3ac81f6d92b704)
#define GR_RECORDING_VERSION 1

/* What a record tells, its kind: a call that obtains memory; one that frees; realloc as two records, the first as of before
 * the call, the second as of after it; memory asked of the kernel and given back, as far as the allocator does so by calls
 * that can be seen; and what is no operation. Calls that got nothing have address 0 (GR_RECORD_REALLOC has none then, for the
 * old block stays). Numbers are never given a new meaning. */
#define GR_RECORD_MALLOC 1
#define GR_RECORD_CALLOC 2
#define GR_RECORD_REALLOC 3
#define GR_RECORD_ALIGNED_ALLOC 4 /* posix_memalign, memalign, valloc, pvalloc, too */
#define GR_RECORD_NEW 5
#define GR_RECORD_NEW_ARRAY 6
#define GR_RECORD_FREE 16
#define GR_RECORD_REALLOC_FREE 17 /* the old block, of a realloc that got memory, or of size 0 */
#define GR_RECORD_DELETE 18
#define GR_RECORD_DELETE_ARRAY 19
#define GR_RECORD_MAP 32   /* mmap, and mremap's new piece */
#define GR_RECORD_UNMAP 33 /* munmap, and mremap's old piece */
#define GR_RECORD_ADVISE 34
#define GR_RECORD_BREAK 35 /* sbrk: the old end, the bytes it grew by (signed) */
#define GR_RECORD_MARK 64  /* gr_mark: size bytes of text follow */
#define GR_RECORD_NAME 65  /* the thread's name: size bytes of text follow */
#define GR_RECORD_STACK 66 /* of the allocation recorded next: size addresses follow, the innermost first */
#define GR_RECORD_TIMED 67 /* the call recorded before took size ticks */
#define GR_RECORD_LOST 68  /* size records found no room since the last (GR_RECORDING_LOSSY) */

/* 24 bytes. Text and addresses that follow fill whole records. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_record {
    uint64_t time;             /* of the clock, in its ticks; a free's before the call, an allocation's after it */
    uint64_t kind_and_address; /* the address below GR_RECORD_KIND_SHIFT */
    uint64_t size;             /* bytes asked for below GR_RECORD_ALIGNMENT_SHIFT, the alignment's logarithm (0: none) above */
} gr_record;
#define GR_RECORD_KIND_SHIFT 56
#define GR_RECORD_ALIGNMENT_SHIFT 56

/* Whose clock: the CPU's counter (rdtsc, cntvct_el0), or CLOCK_MONOTONIC in nanoseconds. */
#define GR_CLOCK_COUNTER 1
#define GR_CLOCK_MONOTONIC 2

/* What is wanted, flags. */
#define GR_RECORDING_LOSSY 1 /* drop and count where a ring is full, rather than wait */

/* The recorder writes it before any process maps it, but for the last two words. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recording {
    uint64_t magic;
    uint32_t version;
    uint32_t recorder;      /* its process id: one that is gone empties no rings, so nobody waits for it */
    uint32_t flags;
    uint32_t clock;
    uint64_t stack_bytes;   /* a stack for as many bytes, in the mean; 0: none; 1: each */
    uint32_t stack_calls;   /* the most of a stack's calls */
    uint32_t timed_calls;   /* one call in so many is timed; 0: none */
    uint32_t processes;
    uint32_t rings;
    uint64_t ring_records;  /* a power of two */
    uint64_t processes_at;  /* these count bytes from the file's begin, and are multiples of a page */
    uint64_t rings_at;
    uint64_t records_at;
    uint32_t bell;          /* a futex: added to, and woken, by who wants the recorder to look */
    uint32_t ring_count;    /* rings below it may have been taken; whoever takes one raises it */
} gr_recording;

/* An entry goes from free to arrived (by the process, which takes it by a compare and swap of its process id for 0, writes
 * the rest and then the state), to recorded or refused (by the recorder, which wakes who waits for it), to leaving (the
 * process, which waits) and to left (the recorder); and to free when the process is gone and its rings are empty. */
#define GR_PROCESS_FREE 0
#define GR_PROCESS_ARRIVED 1
#define GR_PROCESS_RECORDED 2
#define GR_PROCESS_REFUSED 3
#define GR_PROCESS_LEAVING 4
#define GR_PROCESS_LEFT 5
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recorded_process {
    uint32_t id; /* 0: nobody's */
    uint32_t state; /* a futex */
    uint64_t time;  /* when it arrived */
    char allocator[112]; /* the file whose malloc serves it, the end of its path if that is long; ends in a 0 */
} gr_recorded_process;

/* A ring is a thread's from when it writes its thread id over 0 (a compare and swap) until the recorder, which has seen that
 * the thread is gone and the ring is empty, writes 0. It has a cache line for each side. The thread writes a record and then
 * head; where head + 1 - tail would be more than ring_records, it wakes the recorder and waits for tail, a futex by its low
 * half. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recording_ring {
    /* The thread's. */
    uint32_t thread;  /* its id; the taker's first */
    uint32_t process; /* the place of its process in the table */
    uint64_t head;    /* records ever written */
    uint32_t waits;   /* not 0: wake it when tail moves */
    uint32_t unused_[11];
    /* The recorder's. */
    uint64_t tail; /* records ever read */
    uint64_t unused_too_[7];
} gr_recording_ring;

#endif

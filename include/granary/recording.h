/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      the memory that a recorded process and the process that records it share: rings that threads fill with what
 *            they allocate and free, and that the recorder empties.
 * Invariant: of each word it says who writes it; what one side publishes by a release store, the other reads by an acquire
 *            load. A process that is killed leaves whole records. Nothing here points into a process.
 * Must not know: how records are kept (docs/design/trace-format.md); which allocator serves.
 *
 * The shared memory is a file without a name, which the recorder keeps open. A process finds its path in GR_RECORDING_PATH,
 * opens it once, maps the whole of it and closes it again, takes an entry in the table of processes, and for each of its
 * threads that has something to tell a ring. A child of fork has the mapping, and takes an entry and rings of its own; a
 * program that exec starts begins anew, with the process id of an entry that there is already, which is gone by that.
 *
 *     gr_recording | gr_recorded_process[processes] | gr_recording_ring[rings] | records of ring 0 | of ring 1 | ...
 */
#ifndef GRANARY_RECORDING_H
#define GRANARY_RECORDING_H

#include <stdint.h>

/* The environment variable with the path (GRANARY_... are the allocator's options), and what a process refuses if it is
 * another. */
#define GR_RECORDING_PATH "GR_RECORDING"
#define GR_RECORDING_MAGIC UINT64_C(0x5e3ac81f6d92b704)
#define GR_RECORDING_VERSION 1

/* What a record tells, its kind: a call that obtains memory; one that frees; realloc as two records, the first as of before
 * the call, the second as of after it; memory asked of the kernel and given back, as far as the allocator does so by calls
 * that can be seen; and what is no operation. Numbers are never given a new meaning.
 *
 * Calls that got nothing have address 0; a realloc of those has no first half, for the old block stays. To free nothing is
 * no call. A call of operator new that asks a new_handler has a record for each time it got nothing. Of size 0, realloc has
 * its first half, and the second if it got a block.
 *
 * The records of a ring are in the order in which they were written, which is that of their times but for those of before a
 * call that are written after it: a realloc's first half, UNMAP, a free that is timed. A thread that loses its CPU between
 * taking a time and writing tells later than others what was earlier. */
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
#define GR_RECORD_MAP 32    /* mmap, and mremap's new piece */
#define GR_RECORD_UNMAP 33  /* munmap, and mremap's old piece */
#define GR_RECORD_ADVISE 34 /* madvise: where the alignment is otherwise, the advice */
#define GR_RECORD_BREAK 35  /* sbrk: the old end, the bytes it grew by (signed) */
#define GR_RECORD_MARK 64   /* gr_mark: size bytes of text follow */
#define GR_RECORD_NAME 65   /* the thread's name, in size bytes that follow; the first record of who takes a ring */
#define GR_RECORD_STACK 66  /* of the allocation recorded behind it: size addresses follow, the innermost first */
#define GR_RECORD_TIMED 67  /* the call recorded before it took size ticks */
#define GR_RECORD_LOST 68 /* of the thread, size calls, names and marks found no room before it (GR_RECORDING_LOSSY) */

/* 24 bytes. Text and addresses that follow fill whole records. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_record {
    uint64_t time;             /* of the clock, in its ticks; a free's before the call, an allocation's after it */
    uint64_t kind_and_address; /* the address below GR_RECORD_KIND_SHIFT */
    uint64_t size; /* bytes asked for below GR_RECORD_ALIGNMENT_SHIFT, the alignment's logarithm (0: none) above */
} gr_record;
#define GR_RECORD_KIND_SHIFT 56
#define GR_RECORD_ALIGNMENT_SHIFT 56

/* What is written together (a text, or an allocation with its stack and its time) fits the smallest ring. */
#define GR_RECORDING_LEAST_RECORDS 64
#define GR_RECORDING_MOST_TEXT 1000
#define GR_RECORDING_MOST_CALLS 128

/* Whose clock: the CPU's counter (rdtsc, cntvct_el0), or CLOCK_MONOTONIC in nanoseconds. */
#define GR_CLOCK_COUNTER 1
#define GR_CLOCK_MONOTONIC 2

/* What is wanted, flags. */
#define GR_RECORDING_LOSSY 1 /* drop and count where a ring is full, rather than wait */

/* The recorder writes it before any process maps it, but for the last three words. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recording {
    uint64_t magic;
    uint32_t version;
    uint32_t recorder; /* its process id: one that is gone, or a zombie, empties no rings, and nobody waits for it */
    uint32_t flags;
    uint32_t clock;
    uint64_t stack_bytes; /* a stack for as many bytes, in the mean; 0: none; 1: each */
    uint32_t stack_calls; /* the most of a stack's calls, GR_RECORDING_MOST_CALLS at most */
    uint32_t timed_calls; /* one call in so many is timed; 0: none */
    uint32_t processes;
    uint32_t rings;
    uint64_t ring_records; /* a power of two, GR_RECORDING_LEAST_RECORDS at least */
    uint64_t processes_at; /* these count bytes from the file's begin, and are multiples of a cache line */
    uint64_t rings_at;
    uint64_t records_at;
    uint32_t bell;       /* a futex: added to, and woken, by who wants the recorder to look */
    uint32_t ring_count; /* rings below it may have been taken; whoever takes one raises it */
    uint64_t lost;       /* calls of threads for which there was no ring */
} gr_recording;

/* An entry goes from free to arrived (by the process, which takes it by a compare and swap of its process id for 0, writes
 * the rest and then the state), to recorded or refused (by the recorder, which wakes who waits for it), to leaving (the
 * process, which waits) and to left (the recorder); and to free when the process is gone and its rings are empty. A process
 * that left still lives, has something to tell, and may leave again (an exec that failed). */
#define GR_PROCESS_FREE 0
#define GR_PROCESS_ARRIVED 1
#define GR_PROCESS_RECORDED 2
#define GR_PROCESS_REFUSED 3
#define GR_PROCESS_LEAVING 4
#define GR_PROCESS_LEFT 5
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recorded_process {
    uint32_t id;         /* 0: nobody's */
    uint32_t state;      /* a futex */
    uint64_t time;       /* when it arrived */
    char allocator[112]; /* the file whose malloc serves it, the end of its path if that is long; ends in a 0 */
} gr_recorded_process;

/* A ring is a thread's from when it writes its thread id over 0 (a compare and swap) until the recorder, which has seen that
 * the thread is gone and the ring is empty, writes 0; head and tail go on from where they are. A thread that finds a ring
 * with its own id and process, of a thread that is gone, takes that. It has a cache line for each side. The thread writes
 * records and then head; where head - tail would be more than ring_records, it rings the bell, sets waits and waits for tail,
 * a futex by its low half. Each side has a full barrier between what it writes and what it reads of the other: waits and
 * tail, tail and waits. The bell is rung also when another quarter of a ring is written, and not else: the recorder looks at
 * the rings by itself from time to time. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recording_ring {
    /* The thread's. */
    uint32_t thread;  /* its id; the taker's first */
    uint32_t process; /* the place of its process in the table; holds as soon as head moves */
    uint64_t head;    /* records ever written */
    uint32_t waits;   /* not 0: wake it when tail moves; the thread clears it */
    uint32_t unused_;
    uint64_t lost; /* calls that no GR_RECORD_LOST tells yet: the last are read by who frees the ring, and writes 0 */
    uint64_t unused_too_[4];
    /* The recorder's. */
    uint64_t tail; /* records ever read */
    uint64_t unused_also_[7];
} gr_recording_ring;

#endif

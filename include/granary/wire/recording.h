/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the memory that a recorded process shares with the recorder. Each thread of the process writes records of its
 *    calls into a ring, and the recorder empties the rings.
 * Invariant: the comment of each word says who writes it. What one side publishes with a release store, the other side
 *    reads with an acquire load. A process that is killed leaves complete records. No word is a pointer into a process.
 * Must not know: how records are stored (docs/design/trace-format.md); which allocator serves the process.
 *
 * The shared memory is a file without a name that the recorder keeps open. A process finds the path of the file in
 * GR_RECORDING_PATH. It opens the file once, maps all of it and closes it. It takes an entry in the table of processes,
 * and a ring for each of its threads that has a record to write. A child of fork has the mapping already, and takes an
 * entry and rings of its own. A program that exec starts begins anew: its process id is already in an entry, which ends
 * with that.
 *
 *     gr_recording | gr_recorded_process[processes] | gr_recording_ring[rings] | records of ring 0 | of ring 1 | ...
 */
#ifndef GRANARY_RECORDING_H
#define GRANARY_RECORDING_H

#include <stdint.h>

/* The environment variable that holds the path. Its name does not begin with GRANARY_, because those variables are
 * options of the allocator. A process does not record if magic or version differ. */
#define GR_RECORDING_PATH "GR_RECORDING"
#define GR_RECORDING_MAGIC UINT64_C(0x5e3ac81f6d92b704)
#define GR_RECORDING_VERSION 5

/* The kind of a record. There are calls that allocate, calls that free, requests to the kernel (if they are calls that
 * can be intercepted), apart from each other those of the allocator and those of the program and its libraries, and
 * kinds that are no operation. A number never gets a new meaning.
 *
 * A realloc is two records: the first frees the old block, as of before the call, the second allocates the new block,
 * as of after the call. A call that got no memory has address 0; a realloc that got none has no first record, because
 * the old block stays. A realloc of size 0 has its first record, and the second if it got a block. free(NULL) is not
 * recorded. A call of operator new that calls a new_handler has one record for each time that it got no memory.
 *
 * The records of a ring stand in the order in which they were written. That is the order of their times, except for
 * records with a time before the call that are written after the call: the first record of a realloc, UNMAP, and a free
 * that is timed. A thread that loses its CPU between reading the clock and writing also writes late. */
#define GR_RECORD_MALLOC 1
#define GR_RECORD_CALLOC 2
#define GR_RECORD_REALLOC 3
#define GR_RECORD_ALIGNED_ALLOC 4 /* also posix_memalign, memalign, valloc, pvalloc */
#define GR_RECORD_NEW 5
#define GR_RECORD_NEW_ARRAY 6
#define GR_RECORD_FREE 16
#define GR_RECORD_REALLOC_FREE 17 /* the old block of a realloc that got memory or has size 0 */
#define GR_RECORD_DELETE 18
#define GR_RECORD_DELETE_ARRAY 19
#define GR_RECORD_MAP 32    /* mmap, and the new range of mremap */
#define GR_RECORD_UNMAP 33  /* munmap, and the old range of mremap */
#define GR_RECORD_ADVISE 34 /* madvise; the advice stands in place of the alignment */
#define GR_RECORD_BREAK 35  /* sbrk: the old end, and the signed number of bytes by which it grew */
/* Requests of the program and its libraries. In place of the alignment: of OWN_MAP the GR_RECORD_MAP_ bits, of
 * OWN_ADVISE the advice, of which only those that drop pages are recorded. OWN_BREAK also stands for brk, and its size
 * is that of BREAK. All but OWN_UNMAP have a stack where stacks are taken. */
#define GR_RECORD_OWN_MAP 40
#define GR_RECORD_OWN_UNMAP 41
#define GR_RECORD_OWN_ADVISE 42
#define GR_RECORD_OWN_BREAK 43
#define GR_RECORD_MAP_SHARED 1  /* MAP_SHARED */
#define GR_RECORD_MAP_FILE 2    /* not MAP_ANONYMOUS */
#define GR_RECORD_MAP_RESERVE 4 /* PROT_NONE: addresses only */
#define GR_RECORD_MARK 64       /* gr_mark: size bytes of text follow */
#define GR_RECORD_NAME 65 /* the thread's name: size bytes follow; the first record of a thread that takes a ring */
/* Call stack of the allocation or request in the next record: size words follow, for the innermost call first. In place of the
 * alignment stands how many further words it has: they are as many outermost words of the thread's last stack before it in
 * the ring. Or there stands APART: it has no further words, and is not the last stack to the next one. The address is the
 * number of ticks that taking it took. A word with a highest bit of 0 is the address behind a call. With the highest bits
 * 11 it is a place that a GR_RECORD_PLACE of the process tells, which may come later in the ring of another thread. With
 * the highest bits 10 it stands for as many calls as its other bits say, which were left out; a stack has one such word at
 * most. */
#define GR_RECORD_STACK 66
#define GR_RECORD_STACK_APART 255
#define GR_RECORDED_CALLS_LEFT_OUT (UINT64_C(2) << 62)
#define GR_RECORDED_PLACE (UINT64_C(3) << 62)
#define GR_RECORD_TIMED 67 /* the call in the previous record took size ticks */
#define GR_RECORD_LOST 68  /* size calls, names and marks of the thread were dropped before it (GR_RECORDING_LOSSY) */

/* The address is one in the thread's stack, size the thread's pointer (pthread_self). Behind the thread's first NAME. */
#define GR_RECORD_THREAD_STACK 69
#define GR_RECORD_OWN_MEMORY 70 /* size bytes of the recording's own memory in the process, behind THREAD_STACK */
/* A place in a function that an interpreter runs: size bytes follow, the function's name, a zero and its file. The time is
 * the place as it stands in stacks, and the address is the line, or 0. A place may be told more than once. */
#define GR_RECORD_PLACE 71

/* A record has 24 bytes. Text and addresses that follow a record fill whole records. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_record {
    uint64_t time;             /* in ticks of the clock; of a free before the call, of an allocation after the call */
    uint64_t kind_and_address; /* bits below GR_RECORD_KIND_SHIFT: the address; above: the kind */
    uint64_t size; /* bits below GR_RECORD_ALIGNMENT_SHIFT: bytes requested; above: log2 of the alignment (0: none) */
} gr_record;
#define GR_RECORD_KIND_SHIFT 56
#define GR_RECORD_ALIGNMENT_SHIFT 56

/* Records that are written together (a text, or an allocation with its stack and time) fit into the smallest ring. */
#define GR_RECORDING_LEAST_RECORDS 64
#define GR_RECORDING_MOST_TEXT 1000
#define GR_RECORDING_MOST_CALLS 128 /* words of a stack */

/* The clock: the CPU's counter (rdtsc, cntvct_el0), or CLOCK_MONOTONIC in nanoseconds. */
#define GR_CLOCK_COUNTER 1
#define GR_CLOCK_MONOTONIC 2

/* Flags. */
#define GR_RECORDING_LOSSY 1 /* if a ring is full, drop records and count them instead of waiting */

#define GR_RECORDING_UNLOADED_NAMES 8
#define GR_RECORDING_UNLOADED_NAME_BYTES 32

/* The recorder writes all words before `bell` before any process maps the file. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recording {
    uint64_t magic;
    uint32_t version;
    uint32_t recorder; /* process id of the recorder; no thread waits for a recorder that is gone or a zombie */
    uint32_t flags;
    uint32_t clock;
    uint64_t stack_bytes; /* mean number of allocated bytes for each stack; 0: no stacks; 1: every stack */
    /* Most calls of one stack, less than GR_RECORDING_MOST_CALLS; more are left out between its ends. */
    uint32_t stack_calls;
    uint32_t timed_calls; /* one call in so many is timed; 0: none */
    uint32_t processes;
    uint32_t rings;
    uint64_t ring_records; /* records of a ring: a power of two, at least GR_RECORDING_LEAST_RECORDS */
    uint64_t processes_at; /* this and the next two: bytes from the start of the file, multiples of a cache line */
    uint64_t rings_at;
    uint64_t records_at;
    uint32_t bell;           /* a futex: whoever wants the recorder to look adds to it and wakes it */
    uint32_t ring_count;     /* only rings below it may have been taken; a thread that takes a ring raises it */
    uint64_t lost;           /* calls of threads that got no ring */
    uint64_t missed;         /* processes that got no entry, or that do not see the recorder's process id */
    uint64_t unloaded;       /* programs that a process started and that cannot load the recorder's library */
    uint64_t unloaded_names; /* how many of their names were told; only those that found a place are kept */
    char unloaded_name[GR_RECORDING_UNLOADED_NAMES][GR_RECORDING_UNLOADED_NAME_BYTES]; /* each name once; ends in a 0 */
} gr_recording;

/* The states of an entry, and who changes them:
 *   FREE -> ARRIVED               the process: swaps its id for 0 in `id`, then writes the other fields, then the state
 *   ARRIVED -> RECORDED, REFUSED  the recorder, which then wakes the process
 *   RECORDED, LEFT -> LEAVING     the process, which then waits
 *   LEAVING -> LEFT               the recorder
 *   any -> FREE                   the recorder, when the process is gone and its rings are empty
 * A process that has left still lives. It may write more records and may leave again (after an exec that failed).
 *
 * Before a library is unloaded, and after it, the process asks the recorder to look at which files are mapped: it adds to
 * `looks_wanted`, rings the bell and waits until `looks_done` is not below the number that it made. The recorder has then
 * taken all records that were written before. So each stack is taken with the files that are mapped at that time. */
#define GR_PROCESS_FREE 0
#define GR_PROCESS_ARRIVED 1
#define GR_PROCESS_RECORDED 2
#define GR_PROCESS_REFUSED 3
#define GR_PROCESS_LEAVING 4
#define GR_PROCESS_LEFT 5
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recorded_process {
    uint32_t id;           /* process id; 0: the entry is free */
    uint32_t state;        /* a futex */
    uint64_t time;         /* when the process arrived */
    uint32_t looks_wanted; /* written by the process; numbers go on from one process to the next */
    uint32_t looks_done;   /* written by the recorder; a futex */
    char allocator[104];   /* file whose malloc serves the process; only the end of a long path; ends in a 0 */
} gr_recorded_process;

/* A thread takes a ring when it swaps its thread id for 0 in `thread`. The recorder writes 0 again when it has seen
 * that the thread is gone and the ring is empty; head and tail keep their values. A thread that finds a ring with its
 * own thread id and process, left by a thread that is gone, takes that ring.
 *
 * Each side has a cache line of its own. The thread writes records and then head. If head - tail would exceed
 * ring_records, the thread rings the bell, sets waits, and waits for tail, whose lower half is a futex. Each side has a
 * full barrier between its write and its read of the other side's word: the thread between waits and tail, the recorder
 * between tail and waits. The thread also rings the bell when it has filled another quarter of the ring. The recorder
 * also looks at all rings from time to time. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_recording_ring {
    /* Written by the thread. */
    uint32_t thread;  /* thread id; written first */
    uint32_t process; /* index of the entry of its process; valid as soon as head has moved */
    uint64_t head;    /* records written so far */
    uint32_t waits;   /* not 0: the recorder wakes the thread when tail moves; the thread clears it */
    uint32_t unused_;
    uint64_t lost; /* calls dropped since the last GR_RECORD_LOST; the recorder writes 0 when it frees the ring */
    uint64_t unused_too_[4];
    /* Written by the recorder. */
    uint64_t tail; /* records read so far */
    uint64_t unused_also_[7];
} gr_recording_ring;

/* A process that runs already: the recorder loads the library into it and calls these two functions, each in a thread
 * that holds no lock of the loader or of the allocator. `file` is a descriptor of the shared memory in the process; the
 * library closes it. The library changes the words by which the loaded modules reach malloc and its family, so that they
 * lead to the library. gr_record_detach changes them back. Both return 0 or one of the numbers below. */
#define GR_ATTACH_FUNCTION "gr_record_attach" /* int (int file) */
#define GR_DETACH_FUNCTION "gr_record_detach" /* int (void) */
#define GR_ATTACH_RECORDED 1                  /* another recorder records the process */
#define GR_ATTACH_NO_MEMORY 2 /* the shared memory cannot be mapped, or there is no memory for call stacks */
#define GR_ATTACH_REFUSED 3   /* the recorder did not answer, or answered that the process is not to be recorded */
#define GR_ATTACH_NO_MALLOC 4 /* no module defines malloc and free so that others can call them */

#endif

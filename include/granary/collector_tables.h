/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      where a process whose memory Granary collects keeps what its collector knows, for tools that read it from
 *            outside (/proc/PID/mem).
 * Invariant: as in granary/heap_tables.h, beside which it is found in the same way. Records are added, and none goes.
 * Must not know: how a tool finds or reads the process; how blocks lie in a heap.
 */
#ifndef GRANARY_COLLECTOR_TABLES_H
#define GRANARY_COLLECTOR_TABLES_H

#include <stdint.h>

/* A reader accepts exactly its own version. The alignment is GR_HEAP_TABLES_ALIGNMENT. */
#define GR_COLLECTOR_TABLES_MAGIC UINT64_C(0x7b3d90e4a2c8165f)
#define GR_COLLECTOR_TABLES_VERSION 1

/* What of a block may be pointers: nothing; any word; words that all blocks of the kind have in the same places; what a
 * procedure of the program's says; what the block itself says. */
#define GR_CONTENTS_NONE 0
#define GR_CONTENTS_ANY 1
#define GR_CONTENTS_LAYOUT 2
#define GR_CONTENTS_PROCEDURE 3
#define GR_CONTENTS_PER_BLOCK 4

/* What becomes of a block that nothing points to: it is swept; it stays until it is freed; the same, but it is looked for;
 * it comes back if it was freed. */
#define GR_LIFETIME_COLLECTED 0
#define GR_LIFETIME_UNTIL_FREED 1
#define GR_LIFETIME_WATCHED 2
#define GR_LIFETIME_HELD_BACK 3

/* What a piece of the collector's memory is for: marks; what a marker must know of each unit; finalizers and links; flags
 * of blocks that wait; who allocated which block; what was free when a collection beside the program began. */
#define GR_MEMORY_MARKS 1
#define GR_MEMORY_PLACES 2
#define GR_MEMORY_FINALIZATION 3
#define GR_MEMORY_WAITING 4
#define GR_MEMORY_ORIGINS 5
#define GR_MEMORY_SNAPSHOT 6

/* The values of a report's reason: somebody asked; as much was allocated, or waits, as may be; there was no memory. */
#define GR_REASON_ASKED 0
#define GR_REASON_DUE 1
#define GR_REASON_REFUSED 2

/* A kind of blocks: where its gr_heap_tables lie, and GR_CONTENTS_ and GR_LIFETIME_. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_collected_kind {
    uint64_t heap_at;
    uint64_t contents;
    uint64_t lifetime;
} gr_collected_kind;

/* A piece of memory: GR_MEMORY_; where its address lies, which is 0 while there is none; where the count of its elements
 * lies, and how many bytes each has. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_collector_memory {
    uint64_t use;
    uint64_t begin_at;
    uint64_t count_at;
    uint64_t element_bytes;
} gr_collector_memory;

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_collector_tables {
    uint64_t magic;
    uint64_t version;
    uint64_t self;

    /* Records of gr_collected_kind, and of gr_collector_memory; those below their count (32 bits) are filled in. */
    uint64_t kinds_at;
    uint64_t kind_count_at;
    uint64_t memory_at;
    uint64_t memory_count_at;

    /* What the last collection told of itself, 64 bits each but for the reason (8 bits): how many there were, 0 as long as
     * there was none; when it began, in nanoseconds of CLOCK_MONOTONIC; for how long threads stood, and how long it went on
     * beside them before that; how many stood; what it freed and what it left. Of each kind, by its number: blocks that it
     * left in use, and behind that number their bytes. */
    uint64_t report_at;
    uint64_t number_offset;
    uint64_t reason_offset;
    uint64_t began_offset;
    uint64_t stopped_offset;
    uint64_t beside_offset;
    uint64_t threads_offset;
    uint64_t freed_blocks_offset;
    uint64_t live_blocks_offset;
    uint64_t live_bytes_offset;
    uint64_t kinds_offset;
    uint64_t kind_stride;

    /* When so many bytes (64 bits) of units are in use the next one comes; unless the number (32 bits, with a sign) at
     * disabled_at is above 0, or the program's own (32 bits) at dont_collect_at is not 0, which is 0 where it has none; and
     * asked for only while that (8 bits) at automatic_at is 0. Those that are due go on beside the program if that (8 bits)
     * at beside_at is not 0. */
    uint64_t due_at;
    uint64_t disabled_at;
    uint64_t dont_collect_at;
    uint64_t automatic_at;
    uint64_t beside_at;

    /* Where freed blocks wait until nothing points to them: a byte for each block, not 0 while it waits, in rows as those of
     * the heap's bitmaps, from first_unit on. So much waits (64 bits), and with so much the next search comes. All are 0 where
     * no block waits. */
    uint64_t narrow_flags_at;
    uint64_t wide_flags_at;
    uint64_t waiting_at;
    uint64_t waiting_due_at;
} gr_collector_tables;

#endif

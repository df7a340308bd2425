/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: where a process keeps the tables of Granary's collector, for tools that read them from outside (/proc/PID/mem).
 *    `granary why` is such a tool.
 * Invariant: the rules of granary/wire/heap_tables.h hold here, too: how a tool finds the structure, the meaning of `self`,
 *    of _at and of _offset. Records are added and never removed. A tool may read while the process runs.
 * Must not know: how a tool finds or reads the process; how blocks lie in a heap.
 */
#ifndef GRANARY_COLLECTOR_TABLES_H
#define GRANARY_COLLECTOR_TABLES_H

#include <stdint.h>

/* A reader accepts only its own version. The structure lies at a multiple of GR_HEAP_TABLES_ALIGNMENT. */
#define GR_COLLECTOR_TABLES_MAGIC UINT64_C(0x7b3d90e4a2c8165f)
#define GR_COLLECTOR_TABLES_VERSION 2

/* Which words of a block may be pointers: none; any word; words at the same offsets in all blocks of the kind; words
 * that a mark procedure of the program names; words that each block itself names. */
#define GR_CONTENTS_NONE 0
#define GR_CONTENTS_ANY 1
#define GR_CONTENTS_LAYOUT 2
#define GR_CONTENTS_PROCEDURE 3
#define GR_CONTENTS_PER_BLOCK 4

/* What happens to a block that nothing points to.
 *   COLLECTED:   the collector frees it.
 *   UNTIL_FREED: it stays until the program frees it, and so does what it points to.
 *   WATCHED:     it stays until the program frees it; `granary leaks` reports it.
 *   HELD_BACK:   it may be reused once the program has freed it (quarantine). */
#define GR_LIFETIME_COLLECTED 0
#define GR_LIFETIME_UNTIL_FREED 1
#define GR_LIFETIME_WATCHED 2
#define GR_LIFETIME_HELD_BACK 3

/* What a piece of the collector's memory holds: marks; a marker's table of units; finalizers and links; flags of blocks
 * in quarantine; the stack that allocated each block; which blocks were free when an incremental collection ended its
 * marking. */
#define GR_MEMORY_MARKS 1
#define GR_MEMORY_UNIT_TABLE 2
#define GR_MEMORY_FINALIZATION 3
#define GR_MEMORY_WAITING 4
#define GR_MEMORY_ORIGINS 5
#define GR_MEMORY_SNAPSHOT 6

/* Why a collection ran: the program asked for it; the heap or the quarantine had grown to its limit; a request found no
 * memory; the young blocks alone were collected. */
#define GR_REASON_ASKED 0
#define GR_REASON_DUE 1
#define GR_REASON_REFUSED 2
#define GR_REASON_YOUNG 3

/* A kind of blocks: the address of its gr_heap_tables, a GR_CONTENTS_ value and a GR_LIFETIME_ value. */
/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_collected_kind {
    uint64_t heap_at;
    uint64_t contents;
    uint64_t lifetime;
} gr_collected_kind;

/* A piece of memory: a GR_MEMORY_ value; where the piece's address is stored (64 bits; 0 while there is no memory);
 * where the number of its elements is stored (64 bits); the size of an element in bytes. */
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

    /* The arrays of gr_collected_kind and of gr_collector_memory. Records below the count (32 bits) are valid. */
    uint64_t kinds_at;
    uint64_t kind_count_at;
    uint64_t memory_at;
    uint64_t memory_count_at;

    /* The report of the last collection. Each value has 64 bits, but the reason has 8.
     *   number:       the collections so far; 0 if there was none
     *   reason:       a GR_REASON_ value
     *   began:        when the (last) stop of this collection began, in nanoseconds of CLOCK_MONOTONIC
     *   stopped:      how long that stop lasted, in nanoseconds
     *   beside:       how long an incremental collection marked before that stop, in nanoseconds; else 0
     *   threads:      how many threads were stopped
     *   freed_blocks, live_blocks, live_bytes: what it freed, and what it left in use
     *   kinds:        for each kind, in the order of the kinds: the blocks left in use, then 64 bits for their bytes */
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

    /* When the next collection comes.
     *   due_at:          it is due when this many bytes of units are in use (64 bits)
     *   disabled_at:     no collection while this number is above 0 (32 bits, signed)
     *   dont_collect_at: no collection while this number of the program is not 0 (32 bits, signed); the field itself is
     *                    0 if the program has no such number
     *   automatic_at:    while this is 0 (8 bits), collections run only if the program asks or memory is short
     *   beside_at:       due collections are incremental while this is not 0 (8 bits)
     *   retains_by_pace_at: while this is not 0 (8 bits), as much empty memory may stay as may be allocated until the next
     *                    collection, and in each kind at least the retain_bytes of its heap */
    uint64_t due_at;
    uint64_t disabled_at;
    uint64_t dont_collect_at;
    uint64_t automatic_at;
    uint64_t beside_at;
    uint64_t retains_by_pace_at;

    /* The quarantine has one flag (8 bits) for each block, not 0 while the freed block waits. The flags lie in rows,
     * narrow or wide, as the bitmaps of the heap do, from first_unit on. waiting_at: the bytes that wait (64 bits).
     * waiting_due_at: the next search is due when this many bytes wait (64 bits). All four are 0 if there is no
     * quarantine. */
    uint64_t narrow_flags_at;
    uint64_t wide_flags_at;
    uint64_t waiting_at;
    uint64_t waiting_due_at;
} gr_collector_tables;

#endif

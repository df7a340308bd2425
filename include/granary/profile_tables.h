/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      where a process that takes a profile keeps its sums, for tools that read them from outside
 *            (/proc/PID/mem).
 * Invariant: written once, when the profile begins; `self` comes last and is the structure's own address, which tells it
 *            from any copy. Every number is 64 bits; a name that ends in _at is an address in that process, one that
 *            ends in _offset counts bytes from the start of its record.
 * Must not know: how a tool finds or reads the process.
 */
#ifndef GRANARY_PROFILE_TABLES_H
#define GRANARY_PROFILE_TABLES_H

#include <stdint.h>

/* Lies where the heap's tables do (heap_tables.h), and is found as they are. */
#define GR_PROFILE_TABLES_MAGIC UINT64_C(0x5d0e37c6f19ab284)
#define GR_PROFILE_TABLES_VERSION 1

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_profile_tables {
    uint64_t magic;
    uint64_t version;
    uint64_t self;

    uint64_t mean;  /* bytes between two samples, on average */
    uint64_t began; /* nanoseconds of CLOCK_MONOTONIC_COARSE */

    /* Sums by stack, a record each; their count lies at site_count_at. The sum of all is in a record of the same kind that
     * has no stack, at totals_at. In a record a sum is two numbers: blocks in parts of block_unit, then bytes. What was
     * live at the peak is in peak if the number at peak_seen_offset is the one at peaks_at, else it is what is live.
     * The number at changes_at is odd while records are written, and grows. */
    uint64_t changes_at;
    uint64_t block_unit;
    uint64_t sites_at;
    uint64_t site_stride;
    uint64_t site_count_at;
    uint64_t allocated_offset;
    uint64_t live_offset;
    uint64_t peak_offset;
    uint64_t peak_seen_offset;
    uint64_t stack_offset;
    uint64_t totals_at;
    uint64_t peaks_at;
    uint64_t peak_time_at; /* of the peak, by the clock of began */
    uint64_t missed_at;    /* samples that could not be taken */

    /* A stack is the number of a word at words_at, whose lower half is the count of calls; the addresses where they go on
     * follow it, the innermost first. The stack 0 is none. */
    uint64_t words_at;
} gr_profile_tables;

#endif

/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: where a process that takes a profile keeps its sums, for tools that read them from outside (/proc/PID/mem).
 * Invariant: written once, when the profile begins; only `mean` and `began` change later, when the profile is reset.
 *    `self` is written last and holds the structure's own address, which tells the structure from any copy. Every number
 *    has 64 bits. A name that ends in _at is an address in that process; a name that ends in _offset counts bytes from the
 *    start of its record.
 * Must not know: how a tool finds or reads the process.
 */
#ifndef GRANARY_PROFILE_TABLES_H
#define GRANARY_PROFILE_TABLES_H

#include <stdint.h>

/* The structure lies in the same mappings as the heap's tables, and tools find it in the same way (heap_tables.h). */
#define GR_PROFILE_TABLES_MAGIC UINT64_C(0x5d0e37c6f19ab284)
#define GR_PROFILE_TABLES_VERSION 1

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_profile_tables {
    uint64_t magic;
    uint64_t version;
    uint64_t self;

    uint64_t mean;  /* bytes between two samples, on average */
    uint64_t began; /* when the sums were 0: nanoseconds of CLOCK_MONOTONIC_COARSE */

    /* Sums by call stack, one record for each stack; the number of records lies at site_count_at. The record at
     * totals_at has the same form, no stack, and the sums of all. A sum is two numbers: blocks in parts of block_unit,
     * then bytes. What was in use at the peak is the sum `peak` if the number at peak_seen_offset equals the number at
     * peaks_at, else the sum `live`. The number at changes_at is odd while records are written, and it grows with each
     * change. */
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
    uint64_t peak_time_at; /* time of the peak, by the clock of `began` */
    uint64_t missed_at;    /* samples that could not be taken */

    /* A stack is the index of a word at words_at. The lower half of that word is the number of calls; the return
     * addresses follow, innermost first. Stack 0 means that there is no stack. */
    uint64_t words_at;
} gr_profile_tables;

#endif

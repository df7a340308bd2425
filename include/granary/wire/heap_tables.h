/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: where a process that runs on Granary keeps the tables of its heap, for tools that read them from outside
 *    (/proc/PID/mem): addresses, strides and offsets, so that the tables may change while this stays.
 * Invariant: written once, when the heap starts. `self` is written last and holds the structure's own address, which
 *    tells the structure from any copy. Every number has 64 bits. A name that ends in _at is an address in that
 *    process; a name that ends in _offset counts bytes from the start of its record.
 * Must not know: how a tool finds or reads the process.
 */
#ifndef GRANARY_HEAP_TABLES_H
#define GRANARY_HEAP_TABLES_H

#include <stdint.h>

/* The structure lies in a writable mapping of the library's file (of the program's file if Granary is linked in), at a
 * multiple of GR_HEAP_TABLES_ALIGNMENT. A reader accepts only its own version: no meaning changes without a new
 * version. */
#define GR_HEAP_TABLES_MAGIC UINT64_C(0x9c5a1e62b7d0f348)
#define GR_HEAP_TABLES_VERSION 6
#define GR_HEAP_TABLES_ALIGNMENT 64

/* The values of a descriptor's use; a reader may skip all others. */
#define GR_USE_SUPERBLOCK 1
#define GR_USE_RUN 2

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_heap_tables {
    uint64_t magic;
    uint64_t version;
    uint64_t self;

    /* The region. Units are numbered from region_begin. The units before first_unit hold tables. The units from
     * first_unit up to the number (32 bits) at unit_end_at hold blocks, and each has a descriptor. Under a limit on
     * address space, units that are not in use may be unmapped. From tables_at to the end of the region lie tables. region_bytes is 0 if there was no address space: then
     * all blocks are direct. */
    uint64_t region_begin;
    uint64_t region_bytes;
    uint64_t unit_bytes;
    uint64_t first_unit;
    uint64_t unit_end_at;
    uint64_t tables_at;

    /* One descriptor for each unit, from first_unit on. The descriptor of the first unit of a superblock or run is
     * filled in: use (8 bits); units, class, owner (32 bits each); of a run, how many pages of tail_page_bytes at its
     * end belong to no block (16 bits). */
    uint64_t descriptors_at;
    uint64_t descriptor_stride;
    uint64_t use_offset;
    uint64_t units_offset;
    uint64_t class_offset;
    uint64_t owner_offset;
    uint64_t tail_offset;
    uint64_t tail_page_bytes;

    /* Two bitmaps for each superblock, with one bit for each block: free blocks, and blocks that were freed remotely
     * and are not yet collected. A size class whose bitmap fits into narrow_words has both in the narrow table, else in
     * the wide table, at the place of the superblock's first unit: word unit * 2 * words, the second bitmap `words`
     * later. A word has 64 bits. */
    uint64_t narrow_at;
    uint64_t narrow_words;
    uint64_t wide_at;
    uint64_t wide_words;

    /* The size classes, 32 bits each: bytes of a block, blocks and units of a superblock. Class 0 is unused. */
    uint64_t classes_at;
    uint64_t class_count;
    uint64_t class_stride;
    uint64_t block_bytes_offset;
    uint64_t blocks_offset;
    uint64_t superblock_units_offset;

    /* One slab for each heap. The number (32 bits) at heaps_at tells how many heaps are in use. A slab begins with
     * headers of magazines, three numbers each: next (32 bits), limit and begin (16 bits each). The slots [begin, next)
     * hold the addresses of cached blocks; slot i lies at slots_offset + 8 * i from its header. While a trim empties
     * the magazines of all concurrency ids, begin is larger and the slots are [next, begin). Near the end of the slab
     * lie the messages (`messages`), whose count (32 bits) tells how many addresses of blocks each holds. Owners below
     * heap_limit are heaps, the others are the global heap's. */
    uint64_t slabs_at;
    uint64_t slab_bytes;
    uint64_t heaps_at;
    uint64_t heap_limit;
    uint64_t magazines;
    uint64_t magazine_stride;
    uint64_t slots_offset;
    uint64_t messages_offset;
    uint64_t messages;
    uint64_t message_stride;
    uint64_t message_count_offset;
    uint64_t message_blocks_offset;

    /* Blocks that are mapped directly. The address of their table (64 bits; 0: there is none yet) lies at
     * direct_table_at, and the number of its entries (64 bits) at direct_entries_at. An entry begins with an address and
     * a size, 64 bits each; one with an address below one page is empty. The table also holds the blocks of first-class
     * heaps; a block of malloc has direct_mapper at direct_mapper_offset (64 bits). The number of malloc's entries in use
     * (64 bits) lies at direct_count_at. */
    uint64_t direct_table_at;
    uint64_t direct_entries_at;
    uint64_t direct_stride;
    uint64_t direct_mapper_offset;
    uint64_t direct_mapper;
    uint64_t direct_count_at;

    /* The values of GRANARY_RETAIN and GRANARY_MAGAZINE, in bytes. If one part in retain_parts of the memory in use is
     * more than retain_bytes, that much may stay. */
    uint64_t retain_bytes;
    uint64_t retain_parts;
    uint64_t magazine_bytes;

    /* The reuse allowance: how many bytes may stay beyond retain_bytes, and the time in nanoseconds of
     * CLOCK_MONOTONIC_COARSE since which it has been above 0. 64 bits each; 0 while there is no allowance. */
    uint64_t reuse_at;
    uint64_t reuse_since_at;

    /* How many bytes of superblocks and runs are absent: their pages were returned to the OS, or lie behind the end of
     * a block. 64 bits. */
    uint64_t absent_at;
} gr_heap_tables;

#endif

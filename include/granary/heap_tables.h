/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What:      where a process that runs on Granary keeps the tables of its heap, for tools that read them from outside
 *            (/proc/PID/mem): addresses, strides and offsets, so that the tables may change without this.
 * Invariant: written once, when the heap starts; `self` comes last and is the structure's own address, which tells it
 *            from any copy. Every number is 64 bits; a name that ends in _at is an address in that process, one that
 *            ends in _offset counts bytes from the start of its record.
 * Must not know: how a tool finds or reads the process.
 */
#ifndef GRANARY_HEAP_TABLES_H
#define GRANARY_HEAP_TABLES_H

#include <stdint.h>

/* Lies in a writable mapping of the library's file (or of the program's, where it is linked in), at a multiple of
 * GR_HEAP_TABLES_ALIGNMENT. A reader accepts exactly its own version: meaning is never changed without a new one. */
#define GR_HEAP_TABLES_MAGIC UINT64_C(0x9c5a1e62b7d0f348)
#define GR_HEAP_TABLES_VERSION 3
#define GR_HEAP_TABLES_ALIGNMENT 64

/* The values of a descriptor's use; others may be skipped. */
#define GR_USE_SUPERBLOCK 1
#define GR_USE_RUN 2

/* NOLINTNEXTLINE(modernize-use-using): C */
typedef struct gr_heap_tables {
    uint64_t magic;
    uint64_t version;
    uint64_t self;

    /* The one range. Units are numbered from region_begin; memory for blocks begins at first_unit and has a descriptor
     * each up to the unit whose number (32 bits) lies at unit_end_at; what comes before are tables. Under a limit on
     * addresses what is not in use may not be mapped.
     * region_bytes is 0 when there was no address space: then only direct blocks exist. */
    uint64_t region_begin;
    uint64_t region_bytes;
    uint64_t unit_bytes;
    uint64_t first_unit;
    uint64_t unit_end_at;

    /* One descriptor a unit, from first_unit on. That of the first unit of a superblock or run is filled in: use (8
     * bits), and 32 bits each: units, class, owner. */
    uint64_t descriptors_at;
    uint64_t descriptor_stride;
    uint64_t use_offset;
    uint64_t units_offset;
    uint64_t class_offset;
    uint64_t owner_offset;

    /* Two bitmaps for each superblock, one bit a block: free ones, and those freed by strangers and not yet collected.
     * A class whose bitmap fits into narrow_words has them in the narrow table, else in the wide one, at the place of
     * the superblock's first unit: unit * 2 * words, the second `words` behind the first. Words are 64 bits. */
    uint64_t narrow_at;
    uint64_t narrow_words;
    uint64_t wide_at;
    uint64_t wide_words;

    /* The size classes, 32 bits each: bytes of a block, blocks and units of a superblock. Class 0 is no class. */
    uint64_t classes_at;
    uint64_t class_count;
    uint64_t class_stride;
    uint64_t block_bytes_offset;
    uint64_t blocks_offset;
    uint64_t superblock_units_offset;

    /* One slab a heap; heaps whose number (32 bits) lies at heaps_at are in use. A slab begins with headers of
     * magazines, three numbers each: next (32 bits), limit, begin (16 bits each). The addresses of cached blocks stand
     * in the slots [begin, next), slot i at slots_offset + 8 * i from its header; while a trim empties the magazines
     * of all CPUs, in [next, begin), and begin is the larger. Near its end lie letters, whose count (32 bits) tells
     * how many addresses of blocks stand in it. Owners below heap_limit are heaps, the others the global heap's. */
    uint64_t slabs_at;
    uint64_t slab_bytes;
    uint64_t heaps_at;
    uint64_t heap_limit;
    uint64_t magazines;
    uint64_t magazine_stride;
    uint64_t slots_offset;
    uint64_t letters_offset;
    uint64_t letters;
    uint64_t letter_stride;
    uint64_t letter_count_offset;
    uint64_t letter_blocks_offset;

    /* Blocks mapped directly: entries that begin with an address and a size, 64 bits each; addresses below a page are
     * none. Those of first-class heaps are there, too: malloc's have direct_mapper at direct_mapper_offset (64 bits).
     * How many of these are live (64 bits) lies at direct_count_at. */
    uint64_t direct_at;
    uint64_t direct_entries;
    uint64_t direct_stride;
    uint64_t direct_mapper_offset;
    uint64_t direct_mapper;
    uint64_t direct_count_at;

    /* The options that explain what stays resident, in bytes. */
    uint64_t retain_bytes;
    uint64_t magazine_bytes;

    /* How many bytes may stay beyond retain_bytes, since the program has taken so many again after they were given back,
     * and since when it does, in nanoseconds of CLOCK_MONOTONIC_COARSE; 64 bits each, 0 while there is nothing. */
    uint64_t breath_at;
    uint64_t breath_since_at;
} gr_heap_tables;

#endif

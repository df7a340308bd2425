// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the descriptor of a unit. The first unit's descriptor describes the whole superblock or run.
// Invariant: type-stable: a descriptor is never moved and never used for anything else, so that a late reader finds at
//    worst a stale descriptor. What other threads write lies on another cache line than what the owner uses.
// Must not know: heaps, and where bitmaps and blocks lie.
#pragma once

#include <atomic>

#include "base/size_class.hpp"
#include "base/units.hpp"
#include "superblock/page_set.hpp"

namespace gr {

enum class UnitUse : std::uint8_t { unused, superblock, run, interior };

inline constexpr std::uint8_t kNoGroup = 0xff;  // the superblock is full, or in no heap's lists

struct alignas(128) Superblock {
    // The owner's cache line; under the owner's lock.
    Superblock *next = nullptr;  // in the fullness group
    Superblock *previous = nullptr;
    std::uint32_t free_count = 0;  // = popcount(free)
    std::uint32_t first_word = 0;  // no bit of `free` is set in a word below it
    std::uint32_t fresh_from = 0;  // blocks with this index or a higher one were never handed to a magazine
    ClassIndex size_class;
    UnitIndex unit;          // the first unit
    UnitCount units;         // how many
    std::uint32_t head = 0;  // of an interior unit: its distance from the first unit, in units
    UnitUse use = UnitUse::unused;
    std::uint8_t group = kNoGroup;
    bool zeroed = false;   // the units read as zero when the superblock was made
    bool cleared = false;  // the run was handed out by calloc
    bool taken = false;    // blocks were handed to a magazine since the last collection
    bool rested = false;   // not more blocks were in use before the last collection than after the one before it
    // Of a run: pages of kLeastPageBytes at its end that are absent, a unit's at most. Of a free unit: such pages at its
    // end, since the unit was the last one of such a run.
    std::uint16_t tail_pages = 0;
    std::uint32_t kept = 0;  // blocks in use after the last collection
    PageSet absent;          // pages that were returned to the OS, and hold no block that was handed out since

    // The cache line that other threads write, too (the protocol of remote_protocol.hpp).
    // A new owner is stored under the old owner's lock. Stores and loads are seq_cst and pair with each other.
    alignas(kCacheLineBytes) std::atomic<OwnerIndex> owner{};
    std::atomic<std::uint32_t> mark{0};       // only exchanged; 1 while this is, or soon will be, on an owner's stack
    std::atomic<Superblock *> link{nullptr};  // next on that owner's stack; ordered by the stack's own operations

    Superblock *deferred = nullptr;  // next of those that a handler could not release to the page heap; no owner then

    const ClassShape &shape() const { return shape_of(size_class); }
    std::uint32_t used_count() const { return shape().blocks - free_count; }
    bool is_full() const { return free_count == 0; }
    bool is_empty() const { return free_count == shape().blocks; }
    std::size_t bytes() const { return std::size_t{units.value} * kUnitBytes; }
    std::size_t tail_bytes() const { return tail_pages * kLeastPageBytes; }
};
static_assert(sizeof(Superblock) == 128, "a descriptor is two cache lines");
static_assert(std::atomic<OwnerIndex>::is_always_lock_free, "an owner is read without a lock");

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the descriptor of a unit: of a superblock or a run when it is the first of one.
// Invariant: type-stable: never moved, never used for anything else, so a late reader finds at worst a stale one. What
//    strangers write lies on another cache line than what the owner uses.
// Must not know: heaps, and where bitmaps and blocks lie.
#pragma once

#include <atomic>

#include "base/size_class.hpp"
#include "base/units.hpp"
#include "superblock/page_set.hpp"

namespace gr {

enum class UnitUse : std::uint8_t { unused, superblock, run, interior };

inline constexpr std::uint8_t kNoGroup = 0xff;  // full, or in no heap's lists

struct alignas(128) Superblock {
    // The owner's line, under the owner's lock.
    Superblock *next = nullptr;  // in the fullness group
    Superblock *previous = nullptr;
    std::uint32_t free_count = 0;  // = popcount(free)
    std::uint32_t first_word = 0;  // no bit of `free` is set in a word below it
    std::uint32_t fresh_from = 0;  // blocks at and beyond it were never handed to a magazine
    ClassIndex size_class;
    UnitIndex unit;          // the first one
    UnitCount units;         // how many
    std::uint32_t head = 0;  // interior units: how many units before this one the first lies
    UnitUse use = UnitUse::unused;
    std::uint8_t group = kNoGroup;
    bool zeroed = false;     // the units read as zero when the superblock was made
    bool cleared = false;    // a run that calloc handed out
    bool rested = false;     // between the last two collections nobody took a block of it
    std::uint32_t kept = 0;  // blocks in use after the last of them
    PageSet absent;          // given back, and of no block that was handed out since

    // The strangers' line (the protocol of remote_protocol.hpp).
    // The owner is stored under the giver's lock; acquire loads pair with it.
    alignas(kCacheLineBytes) std::atomic<OwnerIndex> owner{};
    std::atomic<std::uint32_t> mark{0};       // exchanged only; 1 while it lies on some owner's stack, or soon will
    std::atomic<Superblock *> link{nullptr};  // next on that stack; ordered by the stack's own operations

    Superblock *deferred = nullptr;  // freed while the page heap was in use by the same thread; nobody's then

    const ClassShape &shape() const { return shape_of(size_class); }
    std::uint32_t used_count() const { return shape().blocks - free_count; }
    bool is_full() const { return free_count == 0; }
    bool is_empty() const { return free_count == shape().blocks; }
    std::size_t bytes() const { return std::size_t{units.value} * kUnitBytes; }
};
static_assert(sizeof(Superblock) == 128);
static_assert(std::atomic<OwnerIndex>::is_always_lock_free);

}  // namespace gr

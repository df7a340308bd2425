// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the interface of this folder, composed of its objects: which heap serves a call, and what a slow path must do
//    at its end.
// Invariant: a heap's lock is held from the first block that leaves a magazine or bitmap to the last that enters one.
//    So a thread that holds all locks finds no block between two states. Other heaps' locks are only tried.
// Must not know: requests in bytes, runs, options, the C library.
#pragma once

#include "heap/address_saving.hpp"
#include "heap/census.hpp"
#include "heap/collector_view.hpp"
#include "heap/dense_chunks.hpp"
#include "heap/reclaimer.hpp"
#include "heap/refiller.hpp"
#include "heap/sweeper.hpp"

namespace gr {

class Heaps {
  public:
    constexpr Heaps(Region &region, Superblocks &superblocks, PageHeap &pages)
        : pages_(pages),
          store_(region, superblocks, pages),
          owners_(pages),
          remote_(owners_, superblocks, ownership_, messenger_, address_saving_),
          ownership_(owners_, remote_, store_, global_free_, superblocks),
          returns_(owners_, remote_, ownership_, superblocks),
          messenger_(owners_, remote_, returns_, region, superblocks),
          capacities_(owners_, returns_, superblocks, pages, address_saving_),
          flusher_(owners_, remote_, returns_, messenger_, capacities_),
          refiller_(owners_, remote_, ownership_, returns_, capacities_, flusher_, superblocks, pages),
          sweeper_(ownership_, global_free_, region, superblocks, pages),
          dense_chunks_(ownership_, region, superblocks, pages),
          reclaimer_(owners_, remote_, ownership_, capacities_, flusher_, store_),
          census_(owners_, global_free_, region, superblocks, pages),
          collector_view_(owners_, ownership_, region, superblocks) {}

    static constexpr std::size_t owners_bytes(std::uint32_t heaps) { return Owners::bytes(heaps); }
    void initialise(const HeapsSetup &setup) {
        address_saving_.initialise(setup.address_saving_least);
        owners_.initialise(setup);
    }

    // Returns a block of the class. nullptr: no memory, or the caller is a signal handler that interrupted the heaps
    // and may not wait.
    void *allocate(ClassIndex c) {
        void *const cached = uses_sequences() ? pop(c) : nullptr;
        return cached != nullptr ? cached : allocate_uncached(c);
    }
    // Like allocate, for a caller that found the magazine of the class empty a moment ago.
    void *allocate_uncached(ClassIndex c) { return uses_sequences() ? refill_here(c) : allocate_by_stripe(c); }
    // p lies in a unit of a superblock, and e is the unit's entry. Misuse ends the program; the message names
    // `function`.
    void free(const char *function, void *p, UnitEntry e);

    UnitStore &store() { return store_; }
    // Of the caller's CPU. A hint: the thread may run on another CPU by the time this returns.
    CpuGroup cpu_group() const;
    std::uint32_t active_heaps() const { return owners_.active_heaps(); }
    const std::atomic<std::uint32_t> *active_heaps_cell() const { return owners_.active_heaps_cell(); }
    bool uses_sequences() const { return owners_.setup().has_sequences(); }
    const HeapsSetup &setup() const { return owners_.setup(); }

    // What the magazines of a heap may hold at first. May be called at any time.
    void set_magazine_budget(std::size_t bytes) { owners_.set_magazine_budget(bytes); }

    // Empties all magazines, collects every remote free, and releases what is empty. If the sequences cannot be
    // stopped, or the caller is a handler that interrupted the heaps, only the magazines of the caller's own id are
    // emptied.
    void reclaim() { reclaimer_.reclaim(); }
    // Called after a free, with no lock held. If addresses are scarce and the memory in use has fallen, reclaims, and
    // nothing is cached until the use grows again (address_saving.hpp).
    void save_addresses() {
        if (address_saving_.begins(pages_.present_bytes())) [[unlikely]]
            reclaimer_.reclaim_to_save_addresses();
    }
    // Called at each tick. Reclaims from the heaps that had no slow path for kTicksToIdle ticks, or one tick less. Does
    // the purge and the huge pages that are due.
    void reclaim_idle() {
        reclaimer_.reclaim_idle();
        sweeper_.sweep_if_due();
        dense_chunks_.make_huge_pages_of_tick();
    }
    // Purge: returns the pages that hold no block in use, in superblocks that have others in use. Returns the bytes
    // returned to the OS. Not for a handler that interrupted the heaps.
    std::size_t sweep() { return sweeper_.sweep(); }
    std::size_t swept_bytes() const { return sweeper_.swept_bytes(); }
    std::size_t sweep_calls() const { return sweeper_.calls(); }

    // Takes or releases every lock of one rank, in order.
    void lock_all(platform::Rank rank);
    void unlock_all(platform::Rank rank);
    // Called after the last unlock: a thread that pushed and found a lock taken relies on the lock's holder (rule 3).
    void settle_all() { remote_.settle_all(); }

    using ClassUse = Census::ClassUse;
    void count_cached(std::uint64_t (&blocks)[kClassCount]) const { census_.count_cached(blocks); }
    ClassUse class_use(ClassIndex c) const { return census_.class_use(c); }
    void restore_invariants() { ownership_.restore_invariants(); }
    // For a collection (collector_view.hpp). settle_collected does what a collection must do once the locks are
    // released.
    CollectorView &collector_view() { return collector_view_; }
    void settle_collected() {
        ownership_.release_all_empty();
        ownership_.restore_invariants();
        sweeper_.sweep_rested();
    }
    // All locks are held.
    const char *first_fault() const { return census_.first_fault(); }

  private:
    void *pop(ClassIndex c) { return platform::gr_sequence_pop(magazine_of(c), owners_.setup().found_at); }
    void *refill_here(ClassIndex c);
    void *allocate_by_stripe(ClassIndex c);
    OwnerIndex lock_other_stripe(OwnerIndex home, bool may_wait);
    OwnerIndex home_stripe() const;
    // quickly: into a magazine that had room. slowly: by more work than that. not_yet: not at all, and the caller frees
    // the block by another way; remote bits always work.
    enum class Freed : std::uint8_t { quickly, slowly, not_yet };
    Freed free_by_sequence(const char *function, void *p, UnitEntry e);
    Freed free_by_owner(const char *function, void *p, UnitEntry e);

    // Each object knows those above it. remote_ also knows the two to which its drain gives blocks (drain.cpp).
    PageHeap &pages_;
    GlobalFree global_free_;
    AddressSaving address_saving_;
    UnitStore store_;
    Owners owners_;
    RemoteFrees remote_;
    Ownership ownership_;
    Returns returns_;
    Messenger messenger_;
    Capacities capacities_;
    Flusher flusher_;
    Refiller refiller_;
    Sweeper sweeper_;
    DenseChunks dense_chunks_;
    Reclaimer reclaimer_;
    Census census_;
    CollectorView collector_view_;
};

}  // namespace gr

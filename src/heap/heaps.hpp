// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the heaps' face, put together from the objects of this folder: which heap serves a call, and what a slow path
//    owes when it is over.
// Invariant: a heap's lock is held from the first block that leaves a magazine or bitmap to the last that enters one,
//    so that whoever holds all locks finds no block in flight; other heaps' locks are only tried.
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

    // A block of the class, or nullptr: no memory, or the calling thread was interrupted inside and may not wait for
    // itself.
    void *allocate(ClassIndex c) {
        void *const cached = uses_sequences() ? pop(c) : nullptr;
        return cached != nullptr ? cached : allocate_uncached(c);
    }
    // The same for who found the magazine of the class empty a moment ago.
    void *allocate_uncached(ClassIndex c) { return uses_sequences() ? refill_here(c) : allocate_by_stripe(c); }
    // p lies in a unit whose entry is e, of a superblock. Dies of misuse, named after `function`.
    void free(const char *function, void *p, UnitEntry e);

    UnitStore &store() { return store_; }
    std::uint32_t active_heaps() const { return owners_.active_heaps(); }
    const std::atomic<std::uint32_t> *active_heaps_cell() const { return owners_.active_heaps_cell(); }
    bool uses_sequences() const { return owners_.setup().has_sequences(); }
    const HeapsSetup &setup() const { return owners_.setup(); }

    // At any time: what the magazines of a heap may hold at first.
    void set_magazine_budget(std::size_t bytes) { owners_.set_magazine_budget(bytes); }

    // Returns what lies in the magazines, collects every remote free, releases what is empty. With sequences that cannot
    // be stopped (or by a handler that interrupted the heaps) only the magazines of the caller's own id.
    void reclaim() { reclaimer_.reclaim(); }
    // After a free that held no lock: the same once what is in use has fallen, where addresses are scarce; and until it
    // grows again nothing is cached.
    void save_addresses() {
        if (address_saving_.begins(pages_.present_bytes())) [[unlikely]]
            reclaimer_.reclaim_to_save_addresses();
    }
    // A tick has gone by: the same for the heaps that had no slow path for kTicksToIdle of them, or one less.
    void reclaim_idle() {
        reclaimer_.reclaim_idle();
        sweeper_.sweep_if_due();
        dense_chunks_.make_huge_pages_of_tick();
    }
    // Gives back the pages that hold no block in use under superblocks that have others; the bytes given back. Not for
    // a handler that interrupted the heaps.
    std::size_t sweep() { return sweeper_.sweep(); }
    std::size_t swept_bytes() const { return sweeper_.swept_bytes(); }
    std::size_t sweep_calls() const { return sweeper_.calls(); }

    // Every lock of one rank, in order.
    void lock_all(platform::Rank rank);
    void unlock_all(platform::Rank rank);
    // After the last of them: who posted and found a lock taken relies on its holder (rule 3).
    void settle_all() { remote_.settle_all(); }

    using ClassUse = Census::ClassUse;
    void count_cached(std::uint64_t (&blocks)[kClassCount]) const { census_.count_cached(blocks); }
    ClassUse class_use(ClassIndex c) const { return census_.class_use(c); }
    void restore_invariants() { ownership_.restore_invariants(); }
    // For a collection (collector_view.hpp), and what it owes when the locks are free again.
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
    // Into a magazine that had room; by more than that; not at all: the bits are the way that always works.
    enum class Freed : std::uint8_t { quickly, slowly, not_yet };
    Freed free_by_sequence(const char *function, void *p, UnitEntry e);
    Freed free_by_owner(const char *function, void *p, UnitEntry e);

    // Each knows those before it, and remote_ the two that its drain hands blocks to (drain.cpp).
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

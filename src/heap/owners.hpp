// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table of owners: a heap for each concurrency id, a global bin for each class, and nobody; where their slabs
//    and outboxes lie, and their locks.
// Invariant: heaps below active_heaps() were used and have the memory of their slab; those above have nothing to lock.
// Must not know: blocks; which superblock is whose; what waits for an owner.
#pragma once

#include "heap/heap.hpp"
#include "region/page_heap.hpp"

namespace gr {

struct HeapsSetup {
    std::uint32_t heaps = 0;    // one for every possible concurrency id
    std::uint32_t stripes = 0;  // how many of them serve threads that have no id
    char *slabs = nullptr;
    // With sequences: the place where they read the address of the slabs.
    char **found_at = nullptr;
    // With sequences that can be stopped: as many bytes as the slabs have, which read as zero for ever.
    char *zeroes = nullptr;
    char *owners = nullptr;  // zeroed, Owners::bytes(heaps) bytes
    std::size_t magazine_budget = kMagazineBudget;
    std::size_t address_saving_least = 0;  // address_saving.hpp
    const char *free = "free";             // the name of the program's function that frees, for later misuse

    bool has_sequences() const { return found_at != nullptr; }
};

class Owners {
  public:
    constexpr explicit Owners(PageHeap &pages) : pages_(pages) {}

    static constexpr std::size_t bytes(std::uint32_t heaps) {
        return heaps * sizeof(Heap) + kClassCount * sizeof(GlobalBin) + sizeof(Owner);
    }
    void initialise(const HeapsSetup &setup);
    const HeapsSetup &setup() const { return setup_; }

    Owner &owner(OwnerIndex o) const {
        if (is_heap(o)) [[likely]]
            return heaps_[o.value];
        return o == kNobody ? *nobody_ : globals_[o.value - kMaxHeaps];
    }
    Heap &heap(OwnerIndex o) const { return heaps_[o.value]; }
    GlobalBin &global(ClassIndex c) const { return globals_[c.value]; }
    Bin &bin_of(OwnerIndex o, ClassIndex c) const { return is_heap(o) ? heap(o).bins[c.value] : global(c).bin; }
    Slab slab(OwnerIndex o) const { return {setup_.slabs, o.value, setup_.found_at}; }
    // At the end of the heap's slab, which has memory from the heap's first use on.
    Outbox &outbox(OwnerIndex o) const {
        char *const next_slab = setup_.slabs + (std::size_t{o.value} + 1) * kSlabBytes;
        return *reinterpret_cast<Outbox *>(next_slab - sizeof(Outbox));
    }

    // What a heap's magazines may hold at first. May be changed at any time; magazines that hold more already do not
    // grow.
    std::size_t magazine_budget() const { return magazine_budget_.load(std::memory_order_relaxed); }
    void set_magazine_budget(std::size_t bytes) { magazine_budget_.store(bytes, std::memory_order_relaxed); }
    // What a heap's magazines may hold at most, however often the heap was denied more.
    std::size_t most_magazine_bytes() const {
        const std::size_t share = pages_.present_bytes() / (kBudgetParts * std::size_t{active_heaps()});
        const std::size_t first = magazine_budget();
        return share > first ? share : first;
    }

    std::uint32_t active_heaps() const { return active_heaps_.load(std::memory_order_acquire); }
    const std::atomic<std::uint32_t> *active_heaps_cell() const { return &active_heaps_; }
    bool is_active(OwnerIndex o) const { return o.value < active_heaps(); }
    // Visits the active heaps, including those that become active meanwhile.
    template <class Visit>
    void for_each_heap(Visit visit) const {
        for (std::uint32_t i = 0; i < active_heaps(); ++i) visit(owner_of_heap(i));
    }
    // Visits the owners in the order of their ranks.
    template <class Visit>
    void for_each_owner(Visit visit) const {
        for_each_heap(visit);
        for (std::uint32_t c = 1; c < kClassCount; ++c) visit(owner_of_global(ClassIndex(c)));
        visit(kNobody);
    }

    // false: the lock is taken and the caller does not wait for it, or there is no memory for the heap's slab.
    bool lock(OwnerIndex o) { return (!is_heap(o) || activate(o)) && owner(o).mutex.lock(rank_of(o)); }
    bool try_lock(OwnerIndex o) { return (!is_heap(o) || activate(o)) && owner(o).mutex.try_lock(rank_of(o)); }
    bool lock(OwnerIndex o, MayWait may_wait) { return may_wait == MayWait::yes ? lock(o) : try_lock(o); }
    // true: something waits for the owner, and the caller must settle the owner (rule 3): RemoteFrees.
    [[nodiscard]] bool unlock(OwnerIndex o) {
        Owner &unlocked = owner(o);
        unlocked.mutex.unlock(rank_of(o));
        return unlocked.has_news();
    }
    // Takes or releases every lock of one rank, in order. Cold: only for forks, stops, and checks of the whole.
    [[gnu::cold]] void lock_all(platform::Rank rank);
    [[gnu::cold]] void unlock_all(platform::Rank rank);
    // While this lock is held, no heap becomes active.
    platform::Mutex &activation() { return activation_; }

  private:
    bool activate(OwnerIndex o) { return is_active(o) || activate_slowly(o); }
    bool activate_slowly(OwnerIndex o);
    template <class Visit>
    void for_each_mutex(platform::Rank rank, Visit visit);

    PageHeap &pages_;
    HeapsSetup setup_;
    std::atomic<std::size_t> magazine_budget_{kMagazineBudget};  // ordered by nothing
    Heap *heaps_ = nullptr;
    GlobalBin *globals_ = nullptr;
    Owner *nobody_ = nullptr;
    // The lock under which active_heaps_ grows. Fork takes it before the heaps' locks.
    platform::Mutex activation_;
    // The release store pairs with active_heaps()'s acquire: a reader finds the memory of the slab.
    std::atomic<std::uint32_t> active_heaps_{0};
};

}  // namespace gr

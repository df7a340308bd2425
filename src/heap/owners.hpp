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
    // With sequences: where they look for where the slabs lie.
    char **found_at = nullptr;
    // With sequences: as much again that reads as zero for ever, if they can be stopped.
    char *zeroes = nullptr;
    char *owners = nullptr;  // zero, of Owners::bytes
    std::size_t magazine_budget = kMagazineBudget;
    std::size_t address_saving_least = 0;  // address_saving.hpp
    const char *free = "free";  // what the program calls to free a block, for messages about misuse found later

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

    // What a heap's magazines may hold at first. At any time; those that hold more already do not grow.
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
    // Those that are active, also those that become so meanwhile.
    template <class Visit>
    void for_each_heap(Visit visit) const {
        for (std::uint32_t i = 0; i < active_heaps(); ++i) visit(owner_of_heap(i));
    }
    // In the order of their ranks.
    template <class Visit>
    void for_each_owner(Visit visit) const {
        for_each_heap(visit);
        for (std::uint32_t c = 1; c < kClassCount; ++c) visit(owner_of_global(ClassIndex(c)));
        visit(kNobody);
    }

    // false: it was not the caller's to wait for, or no memory for the heap's slab.
    bool lock(OwnerIndex o) { return (!is_heap(o) || activate(o)) && owner(o).mutex.lock(rank_of(o)); }
    bool try_lock(OwnerIndex o) { return (!is_heap(o) || activate(o)) && owner(o).mutex.try_lock(rank_of(o)); }
    bool lock(OwnerIndex o, MayWait may_wait) { return may_wait == MayWait::yes ? lock(o) : try_lock(o); }
    // true: something came for the owner meanwhile, and whoever unlocked settles it (rule 3): RemoteFrees.
    [[nodiscard]] bool unlock(OwnerIndex o) {
        Owner &unlocked = owner(o);
        unlocked.mutex.unlock(rank_of(o));
        return unlocked.has_news();
    }
    // Every lock of one rank, in order. Cold, as what is for a fork only, or for a check of the whole.
    [[gnu::cold]] void lock_all(platform::Rank rank);
    [[gnu::cold]] void unlock_all(platform::Rank rank);
    // While it is held no heap becomes active.
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
    // Of active_heaps_, which grows under it; fork takes it first.
    platform::Mutex activation_;
    // release, with the acquire of its readers: the slab is there.
    std::atomic<std::uint32_t> active_heaps_{0};
};

}  // namespace gr

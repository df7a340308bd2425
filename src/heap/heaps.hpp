// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the heaps of all concurrency ids and the global heap: refill, flush, remote frees, and who owns what.
// Invariant: a heap's lock is held from the first block that leaves a magazine or bitmap to the last that enters one,
//            so that whoever holds all locks finds no block in flight; other heaps' locks are only tried.
// Must not know: requests in bytes, runs, options, the C library.
#pragma once

#include <span>

#include "heap/bin.hpp"
#include "heap/inside.hpp"
#include "heap/magazine.hpp"
#include "heap/owner.hpp"
#include "heap/slack.hpp"
#include "heap/sweep_cycle.hpp"
#include "heap/thrift.hpp"
#include "heap/unit_store.hpp"
#include "platform/events.hpp"

namespace gr {

struct Heap : Owner {
    Bin bins[kClassCount];
    MagazinePolicy magazines;
    // Until it counts as idle; ordered by nothing, so a tick may go by too early.
    std::atomic<std::uint32_t> ticks_to_idle;

    void note_use() {
        if (ticks_to_idle.load(std::memory_order_relaxed) != kTicksToIdle)
            ticks_to_idle.store(kTicksToIdle, std::memory_order_relaxed);
    }
    void note_tick() {
        if (const std::uint32_t ticks = ticks_to_idle.load(std::memory_order_relaxed); ticks != 0)
            ticks_to_idle.store(ticks - 1, std::memory_order_relaxed);
    }
    bool is_idle() const { return ticks_to_idle.load(std::memory_order_relaxed) == 0; }
};

// One class of the global heap.
struct GlobalBin : Owner {
    Bin bin;
    std::atomic<std::uint32_t> offered;  // superblocks in it; a hint that saves taking the lock
    // A heap may hold more of the class than its invariant lets it, for a lock was held. A hint; ordered by nothing.
    std::atomic<bool> arrears;
};

struct HeapsSetup {
    std::uint32_t heaps = 0;    // one for every possible concurrency id
    std::uint32_t stripes = 0;  // how many of them serve threads that have no id
    bool sequences = false;
    char *slabs = nullptr;
    // With sequences: as much again that reads as zero for ever, if they can be stopped.
    char *zeroes = nullptr;
    char *owners = nullptr;  // zero, of owners_bytes
    std::size_t magazine_budget = kMagazineBudget;
    std::size_t thrift_least = 0;  // thrift.hpp
    const char *free = "free";     // what the program calls to free a block, for messages about misuse found later
};

class Heaps {
  public:
    constexpr Heaps(Region &region, Superblocks &superblocks, PageHeap &pages)
        : region_(region), superblocks_(superblocks), pages_(pages), store_(region, superblocks, pages) {}

    static constexpr std::size_t owners_bytes(std::uint32_t heaps) {
        return heaps * sizeof(Heap) + kClassCount * sizeof(GlobalBin) + sizeof(Owner);
    }
    void initialise(const HeapsSetup &setup);

    // A block of the class, or nullptr: no memory, or the calling thread was interrupted inside and may not wait for
    // itself. *fresh, if asked for: the block reads as zero.
    void *allocate(ClassIndex c, bool *fresh) {
        return setup_.sequences ? allocate_by_sequence(c, fresh) : allocate_by_stripe(c, fresh);
    }
    // p lies in a unit whose entry is e, of a superblock. Dies of misuse, named after `function`.
    void free(const char *function, void *p, UnitEntry e);

    UnitStore &store() { return store_; }
    std::uint32_t active_heaps() const { return active_heaps_.load(std::memory_order_acquire); }
    const std::atomic<std::uint32_t> *active_heaps_cell() const { return &active_heaps_; }
    bool uses_sequences() const { return setup_.sequences; }

    // Returns what lies in the magazines, collects every remote free, releases what is empty. With sequences that cannot
    // be stopped (or by a handler that interrupted the heaps) only the magazines of the caller's own id.
    void reclaim() { reclaim(Which::all); }
    // After a free that held no lock: the same once what is in use has fallen, where addresses are scarce; and until it
    // grows again nothing is cached.
    void be_thrifty() {
        if (thrift_.begins(pages_.present_bytes())) [[unlikely]]
            reclaim(Which::thrift);
    }
    // A tick has gone by: the same for the heaps that had no slow path for kTicksToIdle of them, or one less.
    void reclaim_idle();
    // Gives back the pages that hold no block in use under superblocks that have others; the bytes given back. Not for
    // a handler that interrupted the heaps.
    std::size_t sweep();
    std::size_t swept_bytes() const { return swept_bytes_.load(std::memory_order_relaxed); }
    std::size_t sweep_calls() const { return sweep_calls_.load(std::memory_order_relaxed); }
    // Every lock of one rank, in order.
    void lock_all(platform::Rank rank);
    void unlock_all(platform::Rank rank);
    // After the last of them: who posted and found a lock taken relies on its holder (rule 3).
    void settle_all();

    // Blocks in the magazines, by class, as far as can be told from outside.
    void count_cached(std::uint64_t (&blocks)[kClassCount]) const;
    // Blocks in the superblocks of a class, whoever owns them, as far as can be told without their locks.
    struct ClassUse {
        std::uint64_t blocks = 0;
        std::uint64_t free = 0;
    };
    ClassUse class_use(ClassIndex c) const;
    void restore_invariants();
    // All locks are held.
    const char *first_fault();

  private:
    // There is room now; the caller has moved to another CPU; its block is free; the lock is its own already.
    enum class Flush : std::uint8_t { room, moved, freed, refused };
    // For another owner's lock. Not in a drain, whose caller may hold others.
    enum class MayWait : bool { no, yes };
    class RemoteBits;
    class Post;
    class OfflineGiver;
    class RemoteFrees;  // the world of RemoteProtocol

    Owner &owner(OwnerIndex o) {
        if (is_heap(o)) [[likely]]
            return heaps_[o.value];
        return o == kNobody ? *nobody_ : globals_[o.value - kMaxHeaps];
    }
    Heap &heap(OwnerIndex o) { return heaps_[o.value]; }
    GlobalBin &global(ClassIndex c) { return globals_[c.value]; }
    // At the end of the heap's slab, which has memory from the heap's first use on.
    Outbox &outbox(OwnerIndex o) const {
        char *const next_slab = setup_.slabs + (std::size_t{o.value} + 1) * kSlabBytes;
        return *reinterpret_cast<Outbox *>(next_slab - sizeof(Outbox));
    }
    Slab slab(OwnerIndex o) const { return {setup_.slabs, o.value, setup_.sequences}; }

    // ownership.cpp
    void announce(Superblock *s);
    void drain(OwnerIndex o);
    void settle(OwnerIndex o);
    // Rule 3: after every unlock.
    void unlock_and_settle(OwnerIndex o) {
        unlock(o);
        if (owner(o).has_news()) [[unlikely]]
            settle(o);
    }
    void collect(OwnerIndex o, Superblock *s);
    // seq_cst, with hand_over, push and has_any: who pushed to the old owner sees the new one, or is seen by the old.
    static OwnerIndex owner_of(const Superblock *s) { return s->owner.load(std::memory_order_seq_cst); }
    bool try_lock(OwnerIndex o) { return (!is_heap(o) || activate(o)) && owner(o).mutex.try_lock(rank_of(o)); }
    void unlock(OwnerIndex o) { owner(o).mutex.unlock(rank_of(o)); }
    bool lock(OwnerIndex o) { return (!is_heap(o) || activate(o)) && owner(o).mutex.lock(rank_of(o)); }
    bool activate(OwnerIndex o) { return o.value < active_heaps() || activate_slowly(o); }
    bool activate_slowly(OwnerIndex o);
    template <class Visit>
    void for_each_owner(Visit visit) const;
    template <class Visit>
    void for_each_mutex(platform::Rank rank, Visit visit);
    void gave(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    void restore_invariant(OwnerIndex o, ClassIndex c, MayWait may_wait);
    Superblock *collect_arrears(OwnerIndex to, ClassIndex c);
    void release(Bin &bin, Superblock *s);
    void release_empty(OwnerIndex o);
    bool give_to_global(OwnerIndex from, Superblock *s, MayWait may_wait);
    Superblock *take_from_global(OwnerIndex to, ClassIndex c);
    Superblock *take_from_others(OwnerIndex to, ClassIndex c);
    void hand_over(Superblock *s, OwnerIndex to);

    // sweep.cpp
    void sweep_if_due();
    enum class SplitHuge : std::uint8_t { if_worth_it, yes };
    void begin_sweep();
    std::size_t sweep_chunks(std::uint32_t count, SplitHuge split);
    bool is_worth_sweeping(ChunkIndex chunk);
    std::size_t sweep_chunk(ChunkIndex chunk);
    std::size_t sweep_unit(UnitIndex u);
    void give_back_swept(Superblock *s, const PageSet &pages, const PageSet &gone);
    Bin &bin_of(OwnerIndex o, ClassIndex c) { return is_heap(o) ? heap(o).bins[c.value] : global(c).bin; }

    // huge.cpp
    void make_huge_pages();
    void make_huge_pages_of_tick();
    bool is_dense(ChunkIndex chunk);

    std::uint32_t chunk_count() const {
        return (region_.unit_end().value - region_.first_unit().value) / kUnitsPerChunk;
    }
    template <class Visit>
    void for_each_unit(ChunkIndex chunk, Visit visit) const {
        const UnitIndex first = region_.unit_at(chunk);
        for (UnitIndex u = first; u < first + UnitCount(kUnitsPerChunk); ++u) visit(u);
    }
    // Calls visit(owner, superblock) under the owner's lock, if a superblock begins there. It has an entry from the moment
    // on when its first owner has it, and so have the units inside it. What the entry says may be stale, and so may the
    // descriptor of units that are changing hands: but entries that name an owner change under its lock only.
    template <class Visit>
    void visit_superblock(UnitIndex u, Visit visit) {
        const UnitEntry e = load_entry(region_, u);
        if (e == 0 || e == kRunEntry) return;
        const OwnerIndex o = owner_in(e);
        Superblock *const s = superblocks_.descriptor(u);
        if (!lock(o)) return;
        if (load_entry(region_, u) == e && owner_of(s) == o && s->use == UnitUse::superblock) visit(o, s);
        unlock_and_settle(o);
    }

    // reclaim.cpp
    enum class Which : std::uint8_t { all, idle, thrift };  // the last narrows the magazines, too
    bool is_wanted(OwnerIndex o, Which which) { return which != Which::idle || heap(o).is_idle(); }
    void reclaim(Which which);
    bool has_cached(Which which);
    void flush_each(Which which);
    bool flush_stopped(Which which);
    void close_magazines(OwnerIndex o);
    void flush_detached(OwnerIndex o);
    bool has_agreed_capacities(OwnerIndex o) const;

    // refill.cpp
    void *allocate_by_sequence(ClassIndex c, bool *fresh);
    void *allocate_by_stripe(ClassIndex c, bool *fresh);
    void *refill(OwnerIndex o, ClassIndex c, bool *fresh);
    std::uint32_t take_blocks(OwnerIndex o, ClassIndex c, void **blocks, std::uint32_t count, bool *fresh);
    Superblock *superblock_for(OwnerIndex o, ClassIndex c);
    Superblock *new_superblock(OwnerIndex o, ClassIndex c);
    bool grow(OwnerIndex o, ClassIndex c);
    bool set_capacity(OwnerIndex o, ClassIndex c, std::uint32_t capacity);
    void shrink_quiet(OwnerIndex o, ClassIndex but);
    OwnerIndex lock_other_stripe(OwnerIndex home, bool may_wait);
    OwnerIndex home_stripe() const;

    static constexpr std::uint32_t batch_of(std::uint32_t blocks) {
        return blocks < kBatchBlocks ? blocks : kBatchBlocks;
    }

    // flush.cpp
    // Into a magazine that had room; by more than that; not at all: the bits are the way that always works.
    enum class Freed : std::uint8_t { quickly, slowly, not_yet };
    Freed free_by_sequence(const char *function, void *p, UnitEntry e);
    Freed free_by_owner(const char *function, void *p, UnitEntry e);
    Flush flush(OwnerIndex o, ClassIndex c, void *p);
    Flush flush_locked(OwnerIndex o, ClassIndex c, void *p);
    void give_back(OwnerIndex o, void *const *blocks, std::uint32_t count, MayWait may_wait = MayWait::yes);
    BlockRef find_or_die(const char *function, const void *p) const;
    void flush_excess(OwnerIndex o, ClassIndex c, std::uint32_t keep);
    void flush_all_locked(OwnerIndex o);

    // remote.cpp
    void free_to_remote_bits(const char *function, void *p, bool in_handler);
    Flush flush_remote(OwnerIndex o);
    Flush flush_remote_locked(OwnerIndex o, bool may_grow);
    void send_to_owners(OwnerIndex from, std::span<void *const> blocks);
    void set_remote(Superblock *s, std::uint32_t word, Word mask, MayWait may_wait);
    void note_remote(OwnerIndex o, std::size_t bytes, MayWait may_wait);
    void open_mail(OwnerIndex o);

    Region &region_;
    Superblocks &superblocks_;
    PageHeap &pages_;
    UnitStore store_;
    HeapsSetup setup_;
    Heap *heaps_ = nullptr;
    GlobalBin *globals_ = nullptr;
    Owner *nobody_ = nullptr;
    // Heaps below it were used and have their slab. It grows under its lock, which fork takes first; the heaps above
    // have nothing to lock. release, with the acquire of its readers: the slab is there.
    platform::Mutex activation_;
    std::atomic<std::uint32_t> active_heaps_{0};
    // Held by who sweeps, and taken by fork first: the blocks of a page that is being given back are marked used.
    platform::Mutex sweeping_;
    Slack slack_;
    SweepCycle sweep_cycle_;
    Thrift thrift_;
    // Statistics; ordered by nothing.
    std::atomic<std::size_t> swept_bytes_{0};
    std::atomic<std::size_t> sweep_calls_{0};
};

}  // namespace gr

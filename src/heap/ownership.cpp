// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which superblock belongs to whom: Hoard's emptiness invariant, the global heap, collecting remote frees, and
//       the locks of all.
// Invariant: the owner field changes only under the giver's lock (rule 1), and a superblock is in its new owner's bin
//            before that owner's lock is let go.
// Must not know: magazines.
#include "heap/heaps.hpp"
#include "heap/misuse.hpp"
#include "heap/remote_protocol.hpp"
#include "platform/memory.hpp"

namespace gr {

// What the protocol calls a node is a superblock; an owner is named by its index.
class Heaps::RemoteFrees {
  public:
    using Node = Superblock *;
    using Owner = OwnerIndex;

    explicit RemoteFrees(Heaps &heaps) : heaps_(heaps) {}

    OwnerIndex owner_of(const Superblock *s) const { return Heaps::owner_of(s); }
    std::uint32_t exchange_mark(Superblock *s, std::uint32_t mark) const {
        platform::count(platform::Event::atomic_operation);
        // Both directions at once: pairs with itself on the other side (rule 4).
        return s->mark.exchange(mark, std::memory_order_acq_rel);
    }
    void push(OwnerIndex o, Superblock *s) const { heaps_.owner(o).pending.push(s); }
    Superblock *take_all(OwnerIndex o) const {
        heaps_.owner(o).remote_bytes.store(0, std::memory_order_relaxed);
        return heaps_.owner(o).pending.take_all();
    }
    Superblock *next(const Superblock *s) const { return s->link.load(std::memory_order_relaxed); }
    bool is_null(const Superblock *s) const { return s == nullptr; }
    bool has_pending(OwnerIndex o) const { return heaps_.owner(o).has_news(); }
    bool is_passive(OwnerIndex o) const { return !is_heap(o); }
    // Who has something waiting was activated; to activate here would be to wait.
    bool try_lock(OwnerIndex o) const { return (!is_heap(o) || o.value < heaps_.active_heaps()) && heaps_.try_lock(o); }
    void unlock(OwnerIndex o) const { heaps_.unlock(o); }
    void open_mail(OwnerIndex o) const { heaps_.open_mail(o); }
    void collect(OwnerIndex o, Superblock *s) const { heaps_.collect(o, s); }

  private:
    Heaps &heaps_;
};

void Heaps::announce(Superblock *s) {
    RemoteFrees world(*this);
    RemoteProtocol<RemoteFrees>::announce(world, s);
}

void Heaps::drain(OwnerIndex o) {
    RemoteFrees world(*this);
    RemoteProtocol<RemoteFrees>::drain(world, o);
}

void Heaps::settle(OwnerIndex o) {
    RemoteFrees world(*this);
    RemoteProtocol<RemoteFrees>::settle(world, o);
}

void Heaps::initialise(const HeapsSetup &setup) {
    setup_ = setup;
    thrift_.initialise(setup.thrift_least);
    heaps_ = reinterpret_cast<Heap *>(setup.owners);
    globals_ = reinterpret_cast<GlobalBin *>(setup.owners + setup.heaps * sizeof(Heap));
    nobody_ = reinterpret_cast<Owner *>(reinterpret_cast<char *>(globals_ + kClassCount));
}

void Heaps::collect(OwnerIndex o, Superblock *s) {
    if (o == kNobody) return;  // given back since: all its blocks were free, so no bit can be set
    void *twice = nullptr;
    const std::uint32_t blocks = superblocks_.collect(s, &twice);
    if (twice != nullptr) die_twice(setup_.free, twice, s->shape().size);
    if (blocks != 0) gave(o, s, blocks);
}

// Blocks of s became free: put it where it belongs now. s may be gone afterwards.
void Heaps::gave(OwnerIndex o, Superblock *s, std::uint32_t blocks) {
    const ClassIndex c = s->size_class;
    Bin &bin = bin_of(o, c);
    bin.gave(s, blocks);
    if (!is_heap(o)) {
        slack_.add(std::size_t{blocks} * s->shape().size);
        if (s->is_empty()) slack_.subtract(superblocks_.idle_bytes(s));
    }
    if (s->is_empty()) release(bin, s);
    if (!is_heap(o)) {
        global(c).offered.store(bin.superblocks(), std::memory_order_relaxed);
        return;
    }
    restore_invariant(o, c, MayWait::no);
}

void Heaps::restore_invariant(OwnerIndex o, ClassIndex c, MayWait may_wait) {
    Bin &bin = heap(o).bins[c.value];
    while (!bin.keeps_hoards_invariant(c)) {
        Superblock *const emptiest = bin.emptiest();
        if (emptiest == nullptr) return;
        if (emptiest->is_empty()) {
            release(bin, emptiest);
        } else if (!give_to_global(o, emptiest, may_wait)) {
            // The next free tries again; if there is none, whoever wants a new superblock does.
            global(c).arrears.store(true, std::memory_order_relaxed);
            return;
        }
    }
}

void Heaps::release(Bin &bin, Superblock *s) {
    bin.abandon(s);
    if (s->absent.any()) pages_.became_present(s->absent.count() * platform::page_size());
    store_entries(region_, s, 0);
    s->owner.store(kNobody, std::memory_order_seq_cst);
    store_.release(s);
}

void Heaps::release_empty(OwnerIndex o) {
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        Bin &bin = heap(o).bins[c];
        for (Superblock *s = bin.first_of(kFullnessGroups - 1); s != nullptr;) {
            Superblock *const next = s->next;
            if (s->is_empty()) release(bin, s);
            s = next;
        }
    }
}

void Heaps::hand_over(Superblock *s, OwnerIndex to) {
    // release: whoever reads the new owner finds the superblock as the giver left it. seq_cst: see owner_of.
    s->owner.store(to, std::memory_order_seq_cst);
    store_entries(region_, s, entry_of(to, s->size_class));
}

// May not wait: a drain that came here may hold another global bin's lock already.
bool Heaps::give_to_global(OwnerIndex from, Superblock *s, MayWait may_wait) {
    const ClassIndex c = s->size_class;
    const OwnerIndex to = owner_of_global(c);
    GlobalBin &target = global(c);
    if (!(may_wait == MayWait::yes ? lock(to) : try_lock(to))) return false;
    heap(from).bins[c.value].abandon(s);
    hand_over(s, to);
    target.bin.adopt(s);
    slack_.add(superblocks_.idle_bytes(s));
    target.offered.store(target.bin.superblocks(), std::memory_order_relaxed);
    unlock_and_settle(to);
    return true;
}

Superblock *Heaps::take_from_global(OwnerIndex to, ClassIndex c) {
    const OwnerIndex from = owner_of_global(c);
    GlobalBin &source = global(c);
    if (source.offered.load(std::memory_order_relaxed) == 0 || !lock(from)) return nullptr;
    Superblock *const s = source.bin.fullest();
    if (s != nullptr) {
        source.bin.abandon(s);
        slack_.subtract(superblocks_.idle_bytes(s));
        source.offered.store(source.bin.superblocks(), std::memory_order_relaxed);
        hand_over(s, to);
        heap(to).bins[c.value].adopt(s);
    }
    unlock_and_settle(from);
    return s;
}

// Memory of a class grows only after what held locks left undone in its heaps was done, as far as their locks are free
// now. What that brought to the global heap.
Superblock *Heaps::collect_arrears(OwnerIndex to, ClassIndex c) {
    std::atomic<bool> &arrears = global(c).arrears;
    if (!arrears.load(std::memory_order_relaxed)) return nullptr;
    arrears.store(false, std::memory_order_relaxed);  // first: who is in arrears from now on says so again
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const OwnerIndex from = owner_of_heap(i);
        if (from == to) continue;
        if (!try_lock(from)) {
            arrears.store(true, std::memory_order_relaxed);
            continue;
        }
        restore_invariant(from, c, MayWait::yes);
        unlock_and_settle(from);
    }
    return take_from_global(to, c);
}

// What other heaps have free of this class, as far as their locks are free; their magazines too, where these may be
// touched.
Superblock *Heaps::take_from_others(OwnerIndex to, ClassIndex c) {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const OwnerIndex from = owner_of_heap(i);
        if (from == to || !try_lock(from)) continue;
        flush_all_locked(from);
        Superblock *const s = heap(from).bins[c.value].fullest();
        if (s != nullptr) {
            heap(from).bins[c.value].abandon(s);
            hand_over(s, to);
            heap(to).bins[c.value].adopt(s);
            restore_invariant(from, c, MayWait::yes);  // what it lost was its fullest
        }
        unlock_and_settle(from);
        if (s != nullptr) return s;
    }
    return nullptr;
}

bool Heaps::activate_slowly(OwnerIndex o) {
    if (Inside::is_again()) return false;  // fork holds the activation while it waits for the heaps
    const platform::Guard guard(activation_, platform::Rank::activation);
    if (!guard.locked()) return false;
    // An inactive heap's slab reads as zeroes, so no sequence has anything to write there yet.
    while (o.value >= active_heaps()) {
        if (!pages_.limit().may_take(kSlabBytes) && (pages_.trim(0) == 0 || !pages_.limit().may_take(kSlabBytes)))
            return false;
        if (!platform::commit(setup_.slabs + active_heaps() * kSlabBytes, kSlabBytes)) {
            pages_.limit().gave(kSlabBytes);
            return false;
        }
        active_heaps_.store(active_heaps() + 1, std::memory_order_release);
    }
    return true;
}

// In the order of their ranks.
template <class Visit>
void Heaps::for_each_owner(Visit visit) const {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) visit(owner_of_heap(i));
    for (std::uint32_t c = 1; c < kClassCount; ++c) visit(owner_of_global(ClassIndex(c)));
    visit(kNobody);
}

template <class Visit>
void Heaps::for_each_mutex(platform::Rank rank, Visit visit) {
    if (rank == platform::Rank::sweep) return visit(sweeping_);
    if (rank == platform::Rank::activation) return visit(activation_);
    for_each_owner([&](OwnerIndex o) {
        if (rank_of(o) == rank) visit(owner(o).mutex);
    });
}

void Heaps::lock_all(platform::Rank rank) {
    for_each_mutex(rank, [rank](platform::Mutex &mutex) { mutex.lock_always(rank); });
}

void Heaps::unlock_all(platform::Rank rank) {
    for_each_mutex(rank, [rank](platform::Mutex &mutex) { mutex.unlock(rank); });
}

void Heaps::settle_all() {
    for_each_owner([this](OwnerIndex o) { settle(o); });
}

Heaps::ClassUse Heaps::class_use(ClassIndex c) const {
    ClassUse all;
    const auto add = [&](const Bin &bin) {
        all.blocks += bin.peek_superblocks() * shape_of(c).blocks;
        all.free += bin.peek_free_blocks();
    };
    for (std::uint32_t i = 0; i < active_heaps(); ++i) add(heaps_[i].bins[c.value]);
    add(globals_[c.value].bin);
    return all;
}

// What a contended lock left undone.
void Heaps::restore_invariants() {
    const Inside inside;
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (!lock(o)) continue;
        for (std::uint32_t c = 1; c < kClassCount; ++c) restore_invariant(o, ClassIndex(c), MayWait::yes);
        unlock_and_settle(o);
    }
}

const char *Heaps::first_fault() {
    std::size_t idle = 0;
    std::size_t absent = 0;
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const Heap &h = heaps_[i];
        if (!h.magazines.is_valid()) return "a heap's magazine capacities do not add up";
        if (!has_agreed_capacities(owner_of_heap(i))) return "a magazine's capacity is not what its heap believes";
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            if (!h.bins[c].is_valid(superblocks_)) return "a heap's bin is not valid";
            if (!h.bins[c].keeps_hoards_invariant(ClassIndex(c))) return "Hoard's invariant does not hold";
            h.bins[c].for_each([&](const Superblock *s) { absent += s->absent.count(); });
        }
    }
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        if (!globals_[c].bin.is_valid(superblocks_)) return "a global bin is not valid";
        globals_[c].bin.for_each([&](const Superblock *s) {
            absent += s->absent.count();
            idle += superblocks_.idle_bytes(s);
        });
    }
    if (idle != slack_.bytes()) return "what is free in the global heap was not counted right";
    if (absent * platform::page_size() != pages_.absent_bytes()) return "absent pages were not counted right";
    return nullptr;
}

}  // namespace gr

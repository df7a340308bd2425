// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the objects of src/heap that stand around the circle of drain.cpp, over a fake of the kernel, for tests of one of
//    them: without the face; without sequences, or with them, where a heap is wanted whose magazines no thread here may
//    touch.
// Invariant: the caller holds the locks that the object's header asks for.
// Must not know: what is tested.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "fake/region.hpp"
#include "heap/capacities.hpp"
#include "heap/messenger.hpp"
#include "platform/process.hpp"

namespace gr::fake {

inline constexpr std::uint32_t kPartsHeaps = 4;
inline constexpr std::size_t kAddressSavingLeast = 64 * kMiB;
inline constexpr OwnerIndex kHeapA = owner_of_heap(0);
inline constexpr OwnerIndex kHeapB = owner_of_heap(1);

struct PartsSetup {
    std::uint32_t chunks = 16;
    std::size_t retain = kMiB;
    std::size_t budget = kMagazineBudget;
    HugePageMaker maker = HugePageMaker::nobody;
    bool sequences = false;  // as many heaps more as there can be ids: the last ones have no thread
};

// Whether libc registers restartable sequences here.
inline bool has_rseq() {
    platform::SequenceState found{};
    return platform::find_rseq(&found);
}

struct Parts {
    explicit Parts(const PartsSetup &wanted = {})
        : heaps(kPartsHeaps + (wanted.sequences ? platform::cpu_bound() : 0)) {
        reset();
        const std::size_t owners_bytes = align_up(Owners::bytes(heaps), kUnitBytes);
        const std::size_t slabs_bytes = heaps * kSlabBytes;
        EXPECT_TRUE(reserve(region, wanted.chunks, table_sizes(owners_bytes, 2 * slabs_bytes)));
        HeapsSetup setup;
        setup.heaps = setup.stripes = heaps;
        setup.slabs = region.readable_table();
        setup.owners = region.fixed_table();
        setup.magazine_budget = wanted.budget;
        if (wanted.sequences) {
            EXPECT_TRUE(platform::find_rseq(&platform::gr_sequence_state));
            platform::gr_sequence_state.slabs = setup.slabs;
            setup.found_at = &platform::gr_sequence_state.slabs;
            setup.zeroes = setup.slabs + slabs_bytes;
        }
        pages.initialise(setup.owners + owners_bytes, wanted.retain, wanted.maker);
        owners.initialise(setup);
        holding(last_heap(), [] {});  // all are active
    }
    Parts(const Parts &) = delete;
    Parts &operator=(const Parts &) = delete;
    ~Parts() {
        if (owners.setup().has_sequences()) platform::gr_sequence_state = {};
    }
    // With sequences no thread ever runs under its id: as after a move to another CPU each of them is refused.
    OwnerIndex last_heap() const { return owner_of_heap(heaps - 1); }

    // Under the owner's lock, which is free.
    template <class Action>
    void holding(OwnerIndex o, Action action) {
        ASSERT_TRUE(owners.lock(o));
        action();
        remote.unlock_and_settle(o);
    }
    // In the name of another thread: the holder of the activation may lock in any order, so that the caller may wait
    // for more heaps.
    void hold(OwnerIndex heap) {
        owners.lock_all(platform::Rank::activation);
        ASSERT_TRUE(owners.try_lock(heap));
    }
    void let_go(OwnerIndex heap) {
        remote.unlock_and_settle(heap);
        owners.unlock_all(platform::Rank::activation);
    }
    // Runs `waiting` in another thread, which comes to wait for the owner's lock, and meanwhile the rest under that lock.
    template <class Waiting, class Meanwhile>
    void while_waiting(OwnerIndex o, Waiting waiting, Meanwhile meanwhile) {
        ASSERT_TRUE(owners.lock(o));
        std::thread other(waiting);
        while (!is_awaited(o)) std::this_thread::yield();
        meanwhile();
        remote.unlock_and_settle(o);
        other.join();
    }
    // Runs the action while another thread holds the lock, till its end: to wait for it is to wait for ever.
    template <class Action>
    void while_held_elsewhere(OwnerIndex o, Action action) {
        while_held_elsewhere(owners.owner(o).mutex, rank_of(o), action);
        remote.settle(o);
    }
    template <class Action>
    static void while_held_elsewhere(platform::Mutex &mutex, platform::Rank rank, Action action) {
        std::atomic<bool> over = false;
        std::thread other([&] {
            mutex.lock_always(rank);
            while (!over) std::this_thread::yield();
            mutex.unlock(rank);
        });
        while (!mutex.is_held()) std::this_thread::yield();
        action();
        over = true;
        other.join();
    }
    // All blocks of a new superblock of the heap, in the order of their addresses.
    std::vector<void *> take_all(OwnerIndex heap, ClassIndex c) {
        std::vector<void *> blocks(shape_of(c).blocks);
        holding(heap, [&] {
            Superblock *const s = ownership.take_new(heap, c, Prefer::warm);
            ASSERT_NE(s, nullptr);
            ASSERT_EQ(superblocks.take(s, blocks), shape_of(c).blocks);
            owners.heap(heap).bins[c.value].took(s, shape_of(c).blocks);
        });
        std::reverse(blocks.begin(), blocks.end());
        return blocks;
    }
    void give_back(OwnerIndex heap, const std::vector<void *> &blocks, std::size_t from, std::size_t count) {
        holding(heap, [&] { returns.give_back(heap, &blocks[from], static_cast<std::uint32_t>(count)); });
    }
    Superblock *superblock_of(const void *p) const { return superblocks.find(p).superblock; }
    bool is_free(const void *p) const {
        const BlockRef ref = superblocks.find(p);
        return superblocks.is_free(ref.superblock, ref.index);
    }
    void begin_address_saving() {
        address_saving.initialise(kAddressSavingLeast);
        ASSERT_FALSE(address_saving.begins(kAddressSavingLeast));
        ASSERT_TRUE(address_saving.begins(kAddressSavingLeast / 2));
    }
    void end_address_saving() { ASSERT_FALSE(address_saving.lasts(kAddressSavingLeast, kAddressSavingLeast)); }
    std::uint32_t in_magazine(OwnerIndex heap, std::uint32_t magazine) const {
        const platform::MagazineHeader h = owners.slab(heap).header(magazine);
        return h.held();
    }

    // By the slab's memory, whichever thread may touch it.
    Slab reference_slab(OwnerIndex heap) const { return {owners.setup().slabs, heap.value, nullptr}; }
    // The heap's magazine of a class becomes so wide, or as wide as it can, and holds as many of the blocks as it then has
    // room for.
    std::uint32_t fill(OwnerIndex heap, const std::vector<void *> &blocks, std::uint32_t slots = kMagazineMaxSlots) {
        const ClassIndex c = superblock_of(blocks[0])->size_class;
        const ClassShape &shape = shape_of(c);
        if (slots > shape.magazine_slots) slots = shape.magazine_slots;
        Slab slab = reference_slab(heap);
        EXPECT_TRUE(slab.set_capacity(magazine_of(c), shape.slots_begin(slots), slots));
        owners.heap(heap).magazines.set_capacity(c, slots);
        return static_cast<std::uint32_t>(
            slab.push_n(magazine_of(c), blocks.data(), static_cast<std::uint32_t>(blocks.size())));
    }
    // As above, for its magazine of blocks that other heaps own.
    void fill_remote(OwnerIndex heap, std::span<void *const> blocks) {
        Slab slab = reference_slab(heap);
        EXPECT_TRUE(slab.set_capacity(kRemoteMagazine, kRemoteSlotsBegin, kRemoteMagazineSlots));
        const auto count = static_cast<std::uint32_t>(blocks.size());
        EXPECT_EQ(slab.push_n(kRemoteMagazine, blocks.data(), count), std::int64_t{count});
    }
    std::size_t in_messages_of(OwnerIndex sender) const {
        std::size_t count = 0;
        owners.outbox(sender).for_each_block([&](const void *) { ++count; });
        return count;
    }

    std::uint32_t heaps;
    Region region;
    Superblocks superblocks{region};
    PageHeap pages{region};
    GlobalFree global_free;
    UnitStore store{region, superblocks, pages};
    AddressSaving address_saving;
    Owners owners{pages};
    RemoteFrees remote{owners, superblocks, ownership, messenger, address_saving};
    Ownership ownership{owners, remote, store, global_free, superblocks};
    Returns returns{owners, remote, ownership, superblocks};
    Messenger messenger{owners, remote, returns, region, superblocks};
    Capacities capacities{owners, returns, superblocks, pages, address_saving};

  private:
    // Its holder's tag has the bit set that says so (platform/mutex.hpp).
    bool is_awaited(OwnerIndex o) const {
        const auto *const word = reinterpret_cast<const std::atomic<std::uint32_t> *>(&owners.owner(o).mutex);
        return (word->load(std::memory_order_relaxed) & 1) != 0;
    }
};

}  // namespace gr::fake

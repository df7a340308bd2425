// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps over a fake of the kernel, driven by one thread that decides which locks are free; without sequences, or
//    with them, for threads that run as they do.
// Invariant: whatever holds a lock here is the test itself; an allocation from heap i finds all other heaps busy.
// Must not know: requests in bytes.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>
#include <vector>

#include "fake/region.hpp"
#include "heap/heaps.hpp"
#include "platform/process.hpp"
#include "platform/rseq/stop.hpp"

namespace gr::fake {

inline constexpr std::uint32_t kStripes = 3;

struct WorldSetup {
    std::uint32_t chunks = 16;
    std::size_t retain = kMiB;
    std::size_t reuse = kReuseBytes;
    std::size_t budget = kMagazineBudget;
    std::uint32_t stripes = kStripes;
    bool activate = true;
    HugePageMaker maker = HugePageMaker::nobody;
    bool sequences = false;  // a heap for each id then
};

class World {
  public:
    explicit World(const WorldSetup &wanted = {})
        : stripes_(wanted.sequences ? platform::cpu_bound() : wanted.stripes), sequences_(wanted.sequences) {
        reset();
        const std::size_t slabs_bytes = stripes_ * kSlabBytes;
        const std::size_t owners_bytes = align_up(Heaps::owners_bytes(stripes_), kUnitBytes);
        EXPECT_TRUE(reserve(region, wanted.chunks, table_sizes(owners_bytes, slabs_bytes * 2)));
        HeapsSetup setup;
        setup.heaps = setup.stripes = stripes_;
        setup.slabs = region.readable_table();
        if (sequences_) switch_on(&setup, setup.slabs + slabs_bytes);
        setup.owners = owners_ = region.fixed_table();
        setup.magazine_budget = wanted.budget;
        pages.initialise(owners_ + owners_bytes, wanted.retain, wanted.maker, wanted.reuse);
        heaps.initialise(setup);
        for (std::uint32_t i = 0; wanted.activate && !sequences_ && i < stripes_; ++i) activate_next();
    }
    World(const World &) = delete;
    World &operator=(const World &) = delete;
    ~World() {
        if (sequences_) platform::gr_sequence_state = {};
    }
    // A thread that is new is dealt the next heap.
    void activate_next() {
        std::thread([this] { free(heaps.allocate(ClassIndex(1))); }).join();
        heaps.reclaim();
    }

    Heap &heap(std::uint32_t i) { return reinterpret_cast<Heap *>(owners_)[i]; }
    Outbox &outbox(std::uint32_t i) {
        return *reinterpret_cast<Outbox *>(region.readable_table() + (i + 1) * kSlabBytes - sizeof(Outbox));
    }
    GlobalBin &global(ClassIndex c) {
        return reinterpret_cast<GlobalBin *>(owners_ + stripes_ * sizeof(Heap))[c.value];
    }
    // In the name of others: the holder of the activation may lock in any order, so that the caller may wait for more.
    void hold(std::uint32_t i) {
        if (held_++ == 0) heaps.lock_all(platform::Rank::activation);
        ASSERT_TRUE(heap(i).mutex.try_lock(platform::Rank::heap));
    }
    void let_go(std::uint32_t i) {
        heap(i).mutex.unlock(platform::Rank::heap);
        if (--held_ == 0) heaps.unlock_all(platform::Rank::activation);
    }

    void *allocate_in(std::uint32_t i, ClassIndex c) {
        for (std::uint32_t other = 0; other < stripes_; ++other) {
            if (other != i) hold(other);
        }
        void *const p = heaps.allocate(c);
        for (std::uint32_t other = 0; other < stripes_; ++other) {
            if (other != i) let_go(other);
        }
        return p;
    }
    UnitEntry entry(const void *p) const { return load_entry(region, region.unit_of(p)); }
    // Into the owner's magazine.
    void free(void *p) { heaps.free("free", p, entry(p)); }
    // While the owner is busy: by a remote bit.
    void free_remotely(void *p) {
        const std::uint32_t owner = owner_in(entry(p)).value;
        const bool heap_owns = owner < stripes_;
        if (heap_owns) hold(owner);
        free(p);
        if (heap_owns) let_go(owner);
    }
    Superblock *superblock_of(const void *p) const { return superblocks.find(p).superblock; }
    OwnerIndex owner_of(const void *p) const { return superblock_of(p)->owner.load(); }
    bool is_free(const void *p) const {
        const BlockRef ref = superblocks.find(p);
        return superblocks.is_free(ref.superblock, ref.index);
    }
    std::uint32_t in_magazine(std::uint32_t i, ClassIndex c) const {
        const platform::MagazineHeader h = Slab(region.readable_table(), i, nullptr).header(magazine_of(c));
        return h.held();
    }
    // Frees the blocks but every eighth, so that most of their superblocks go to the global heap; what is kept.
    std::vector<void *> free_seven_of_eight(const std::vector<void *> &blocks) {
        std::vector<void *> kept;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (i % 8 == 0) {
                kept.push_back(blocks[i]);
            } else {
                free(blocks[i]);
            }
        }
        return kept;
    }
    // What the heap says of itself; its locks need not be held, because there is no other thread.
    ::testing::AssertionResult is_valid() {
        if (const char *const fault = heaps.first_fault()) return ::testing::AssertionFailure() << fault;
        if (!pages.is_valid()) return ::testing::AssertionFailure() << "the page heap is not valid";
        return ::testing::AssertionSuccess();
    }
    // No byte of any unit can be read or written from now on.
    void forbid_blocks() {
        ASSERT_TRUE(region.ensure_chunks(region.chunk_limit()));
        ASSERT_EQ(mprotect(region.address(region.first_unit()), region.chunk_limit() * kChunkBytes, PROT_NONE), 0);
    }

    Region region;
    Superblocks superblocks{region};
    PageHeap pages{region};
    Heaps heaps{region, superblocks, pages};

  private:
    std::uint32_t held_ = 0;
    void switch_on(HeapsSetup *setup, char *zeroes) {
        EXPECT_TRUE(platform::find_rseq(&platform::gr_sequence_state));
        platform::gr_sequence_state.slabs = setup->slabs;
        setup->found_at = &platform::gr_sequence_state.slabs;
        if (platform::register_for_stops()) setup->zeroes = zeroes;
    }

    std::uint32_t stripes_;
    bool sequences_;
    char *owners_ = nullptr;
};

}  // namespace gr::fake

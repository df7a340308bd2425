// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the objects of src/heap that stand around the circle of drain.cpp, over a fake of the kernel, for tests of one of
//       them: without the face, without sequences.
// Invariant: whoever calls holds the locks that the object's header asks for.
// Must not know: what is tested.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "fake/region.hpp"
#include "heap/capacities.hpp"
#include "heap/post.hpp"

namespace gr::fake {

inline constexpr std::uint32_t kPartsHeaps = 4;
inline constexpr std::size_t kThriftLeast = 64 * kMiB;
inline constexpr OwnerIndex kHeapA = owner_of_heap(0);
inline constexpr OwnerIndex kHeapB = owner_of_heap(1);

struct Parts {
    Parts() {
        reset();
        const std::size_t owners_bytes = align_up(Owners::bytes(kPartsHeaps), kUnitBytes);
        EXPECT_TRUE(reserve(region, 16, table_sizes(owners_bytes, kPartsHeaps * kSlabBytes)));
        HeapsSetup setup;
        setup.heaps = setup.stripes = kPartsHeaps;
        setup.slabs = region.readable_table();
        setup.owners = region.fixed_table();
        pages.initialise(setup.owners + owners_bytes, kMiB);
        owners.initialise(setup);
        holding(owner_of_heap(kPartsHeaps - 1), [] {});  // all are active
    }
    Parts(const Parts &) = delete;
    Parts &operator=(const Parts &) = delete;

    // Under the owner's lock, which is free.
    template <class Action>
    void holding(OwnerIndex o, Action action) {
        ASSERT_TRUE(owners.lock(o));
        action();
        remote.unlock_and_settle(o);
    }
    // In the name of another thread: of who holds the activation no order is asked, so that the caller may wait for
    // more heaps.
    void hold(OwnerIndex heap) {
        owners.lock_all(platform::Rank::activation);
        ASSERT_TRUE(owners.try_lock(heap));
    }
    void let_go(OwnerIndex heap) {
        remote.unlock_and_settle(heap);
        owners.unlock_all(platform::Rank::activation);
    }
    // All blocks of a new superblock of the heap.
    std::vector<void *> take_all(OwnerIndex heap, ClassIndex c) {
        std::vector<void *> blocks(shape_of(c).blocks);
        holding(heap, [&] {
            Superblock *const s = ownership.take_new(heap, c, Prefer::warm);
            ASSERT_NE(s, nullptr);
            ASSERT_EQ(superblocks.take(s, blocks), shape_of(c).blocks);
            owners.heap(heap).bins[c.value].took(s, shape_of(c).blocks);
        });
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
    void begin_thrift() {
        thrift.initialise(kThriftLeast);
        ASSERT_FALSE(thrift.begins(kThriftLeast));
        ASSERT_TRUE(thrift.begins(kThriftLeast / 2));
    }
    void end_thrift() { ASSERT_FALSE(thrift.lasts(kThriftLeast, kThriftLeast)); }
    std::uint32_t in_magazine(OwnerIndex heap, std::uint32_t magazine) const {
        const platform::MagazineHeader h = owners.slab(heap).header(magazine);
        return static_cast<std::uint32_t>(h.current - h.begin);
    }

    Region region;
    Superblocks superblocks{region};
    PageHeap pages{region};
    Slack slack;
    UnitStore store{region, superblocks, pages};
    Thrift thrift;
    Owners owners{pages};
    RemoteFrees remote{owners, superblocks, ownership, post, thrift};
    Ownership ownership{owners, remote, store, slack, superblocks};
    Returns returns{owners, remote, ownership, superblocks};
    Post post{owners, remote, returns, region, superblocks};
    Capacities capacities{owners, returns, superblocks, pages, thrift};
};

}  // namespace gr::fake

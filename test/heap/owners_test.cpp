// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table of owners: its layout, a heap's first use, and locks.
// Invariant: knows no block; every owner here is empty.
// Must not know: what owners own.
#include "heap/owners.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fake/region.hpp"
#include "platform/reentry.hpp"

namespace gr::owners_test {

constexpr std::uint32_t kCount = 5;

class OwnersTest : public testing::Test {
  protected:
    void SetUp() override {
        fake::reset();
        const std::size_t bytes = align_up(Owners::bytes(kCount), kUnitBytes);
        ASSERT_TRUE(fake::reserve(region_, 2, fake::table_sizes(bytes, kCount * kSlabBytes)));
        setup_.heaps = setup_.stripes = kCount;
        setup_.slabs = region_.readable_table();
        setup_.owners = region_.fixed_table();
        pages_.initialise(setup_.owners + bytes, kMiB);
        owners_.initialise(setup_);
    }
    // Whether something had come.
    bool lock_and_unlock(OwnerIndex o) {
        EXPECT_TRUE(owners_.lock(o));
        return owners_.unlock(o);
    }

    Region region_;
    PageHeap pages_{region_};
    HeapsSetup setup_;
    Owners owners_{pages_};
};

TEST_F(OwnersTest, EachHasItsOwnPlace) {
    std::set<const char *> places;
    const auto add = [&](OwnerIndex o) { places.insert(reinterpret_cast<const char *>(&owners_.owner(o))); };
    for (std::uint32_t i = 0; i < kCount; ++i) add(owner_of_heap(i));
    for (std::uint32_t c = 0; c < kClassCount; ++c) add(owner_of_global(ClassIndex(c)));
    add(kNobody);
    EXPECT_EQ(places.size(), kCount + kClassCount + 1);
    EXPECT_GE(*places.begin(), setup_.owners);
    EXPECT_LE(*places.rbegin() + sizeof(Owner), setup_.owners + Owners::bytes(kCount));
    EXPECT_EQ(static_cast<Owner *>(&owners_.heap(owner_of_heap(3))), &owners_.owner(owner_of_heap(3)));
    EXPECT_EQ(&owners_.bin_of(owner_of_heap(3), ClassIndex(7)), &owners_.heap(owner_of_heap(3)).bins[7]);
    EXPECT_EQ(&owners_.bin_of(owner_of_global(ClassIndex(7)), ClassIndex(7)), &owners_.global(ClassIndex(7)).bin);
    const char *const outbox_end = reinterpret_cast<const char *>(&owners_.outbox(owner_of_heap(1)) + 1);
    EXPECT_EQ(outbox_end, setup_.slabs + 2 * kSlabBytes);
}

TEST_F(OwnersTest, AHeapIsActiveWithAllBelowItFromItsFirstLockOn) {
    EXPECT_EQ(owners_.active_heaps(), 0U);
    EXPECT_FALSE(lock_and_unlock(owner_of_global(ClassIndex(1))));
    EXPECT_EQ(owners_.active_heaps(), 0U) << "a global bin needs no slab";
    EXPECT_FALSE(lock_and_unlock(owner_of_heap(2)));
    EXPECT_EQ(owners_.active_heaps(), 3U);
    EXPECT_TRUE(owners_.is_active(owner_of_heap(2)));
    EXPECT_FALSE(owners_.is_active(owner_of_heap(3)));
    Message *const message = owners_.outbox(owner_of_heap(2)).blank();
    ASSERT_NE(message, nullptr);
    message->begin(kNobody, nullptr);  // its slab can be written to
    std::uint32_t visited = 0;
    owners_.for_each_heap([&](OwnerIndex o) { EXPECT_EQ(o.value, visited++); });
    EXPECT_EQ(visited, 3U);
}

TEST_F(OwnersTest, WithoutMemoryForItsSlabAHeapCannotBeLocked) {
    ASSERT_FALSE(lock_and_unlock(owner_of_heap(0)));
    fake::fail(fake::Call::commit, 0, 1);
    EXPECT_FALSE(owners_.lock(owner_of_heap(1)));
    EXPECT_EQ(owners_.active_heaps(), 1U);
    EXPECT_FALSE(owners_.owner(owner_of_heap(1)).mutex.is_held());
    EXPECT_TRUE(owners_.try_lock(owner_of_heap(1))) << "there is memory again";
    EXPECT_FALSE(owners_.unlock(owner_of_heap(1)));
}

TEST_F(OwnersTest, BeyondTheHardLimitNoHeapBecomesActive) {
    pages_.limit().initialise(MemoryLimit::kNone, kSlabBytes + kSlabBytes / 2);
    EXPECT_FALSE(lock_and_unlock(owner_of_heap(0)));
    EXPECT_FALSE(owners_.lock(owner_of_heap(1)));
    EXPECT_EQ(owners_.active_heaps(), 1U);
}

TEST_F(OwnersTest, AHandlerThatInterruptedTheHeapsActivatesNone) {
    ASSERT_FALSE(lock_and_unlock(owner_of_heap(0)));
    const platform::Reentry interrupted, handler;
    EXPECT_FALSE(owners_.try_lock(owner_of_heap(1)));
    EXPECT_EQ(owners_.active_heaps(), 1U);
    EXPECT_TRUE(owners_.try_lock(owner_of_heap(0)));
    EXPECT_FALSE(owners_.lock(owner_of_heap(0))) << "nobody waits for himself";
    EXPECT_FALSE(owners_.unlock(owner_of_heap(0)));
}

TEST_F(OwnersTest, AnUnlockTellsWhatCameMeanwhile) {
    const OwnerIndex o = owner_of_heap(0);
    Message message = {};
    ASSERT_TRUE(owners_.lock(o));
    owners_.owner(o).inbox.push(&message);
    EXPECT_TRUE(owners_.unlock(o));
    EXPECT_TRUE(lock_and_unlock(o)) << "it is still there";
    EXPECT_EQ(owners_.owner(o).inbox.take_all(), &message);
    EXPECT_FALSE(lock_and_unlock(o));
    Superblock s = {};
    owners_.owner(o).pending.push(&s);
    EXPECT_TRUE(lock_and_unlock(o));
    owners_.owner(o).pending.take_all();
}

TEST_F(OwnersTest, AllLocksOfARankAreTakenAndNoOther) {
    ASSERT_FALSE(lock_and_unlock(owner_of_heap(3)));
    const auto is_held = [&](OwnerIndex o) { return owners_.owner(o).mutex.held_by_me(); };
    // A thread that takes all locks of a rank holds the activation.
    owners_.lock_all(platform::Rank::activation);
    EXPECT_TRUE(owners_.activation().held_by_me());
    owners_.for_each_owner([&](OwnerIndex o) { EXPECT_FALSE(is_held(o)) << o.value; });
    for (const platform::Rank rank : {platform::Rank::heap, platform::Rank::global_bin, platform::Rank::nobody}) {
        owners_.lock_all(rank);
        owners_.for_each_owner([&](OwnerIndex o) { EXPECT_EQ(is_held(o), rank_of(o) == rank) << o.value; });
        owners_.unlock_all(rank);
        owners_.for_each_owner([&](OwnerIndex o) { EXPECT_FALSE(is_held(o)) << o.value; });
    }
    owners_.unlock_all(platform::Rank::activation);
    EXPECT_FALSE(owners_.activation().is_held());
}

}  // namespace gr::owners_test

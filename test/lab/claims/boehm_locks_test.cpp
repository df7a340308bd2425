// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how often the allocation lock is taken with Boehm's free lists of threads (002, Parallel allocation): with and without
//    the threshold of a page's worth, and where free goes to local lists, in groups, or to the global list.
// Invariant: locks are counted, in the counted build; nothing is timed.
// Must not know: how a lock is made.
#include "allocators/boehm.hpp"

#include "lab/claims/counting.hpp"

namespace gr::lab::boehm_locks_test {

using FreesGlobally = HeapsAndLarge<ListsOfThreads<ThreadPointer, Frees::to_global_list>>;
using AtOnce = HeapsAndLarge<ListsOfThreads<ThreadPointer, Frees::to_local_list, 0>>;

constexpr std::size_t kPagesWorth = kHeapPageBytes / kSize;
const double kGroup = static_cast<double>(kHeapPageBytes - sizeof(Container)) / kSize;

// Threads that begin, recycle a few blocks and end, one after the other.
constexpr std::size_t kShortThreads = 100;
constexpr std::size_t kFew = 8;

struct Short {
    double locks;             // for each thread
    std::size_t kept_at_end;  // objects that lie free in their lists before they end
};
template <class A>
Short of_short_threads() {
    const auto count = [] { return static_cast<double>(platform::counted(platform::Event::lock)); };
    Short all{0, 0};
    const double before = count();
    for (std::size_t t = 0; t < kShortThreads; ++t)
        std::thread([&all] {
            std::array<void *, kFew> blocks;
            for (void *&block : blocks) block = the_allocator<A>.allocate(kSize);
            for (void *const block : blocks) the_allocator<A>.free(block);
            auto &heaps = the_allocator<A>.heaps();
            all.kept_at_end += heaps.lists_of_caller()->free_objects(heaps.Blocks::bin_of(kSize));
            the_allocator<A>.thread_ends();
        }).join();
    all.locks = (count() - before) / kShortThreads;
    return all;
}

// One allocates, another frees: locks in a million pairs.
template <class A>
double produced_and_consumed() {
    Team<A> team(2);
    const std::uint64_t before = platform::counted(platform::Event::lock);
    for (std::size_t round = 0; round < kRounds; ++round) team.free(1, team.allocate(0, kBatch, kSize));
    return static_cast<double>(platform::counted(platform::Event::lock) - before) * 1e6 / (kRounds * kBatch);
}

void tell(const char *what, double locks) { std::printf("%-60s %12.0f locks\n", what, locks); }

// Of a million operations.
TEST(BoehmLocks, ThreadsRecycleTheirOwnBlocksWithoutLocks) {
    const Counts with = recycle<Chosen>();
    const Counts without = recycle<AtOnce>();
    tell("recycle, a million pairs, with the threshold", 2 * with.locks);
    tell("recycle, a million pairs, without", 2 * without.locks);
    EXPECT_LT(with.locks, kSeldom);
    EXPECT_LT(without.locks, with.locks);
    // The threshold costs a page's worth of locks for each thread and size.
    const double pairs = kThreads * kRounds * kBatch / 1e6;
    EXPECT_NEAR(with.locks - without.locks, kThreads * kPagesWorth / (2 * pairs), kThreads * 4 / (2 * pairs));
}

// What the threshold is for: a thread that takes little of a size takes no page of it.
TEST(BoehmLocks, AThreadThatAllocatesLittleTakesALockForEachAndKeepsNothing) {
    const auto with = of_short_threads<Chosen>();
    const auto without = of_short_threads<AtOnce>();
    tell("a thread of few blocks, with the threshold", with.locks);
    tell("a thread of few blocks, without", without.locks);
    EXPECT_GE(with.locks, 2 * kFew);
    EXPECT_LT(without.locks, kFew);
    EXPECT_EQ(with.kept_at_end, 0U);
    EXPECT_GT(without.kept_at_end, kShortThreads * kPagesWorth / 2);
}

// Observations: explicit allocators take a lock for each object that is freed; the paper proposes groups.
TEST(BoehmLocks, FreeInGroupsTakesALockForAGroupAndOneByOneForEachObject) {
    const double one_by_one = 2 * recycle<FreesGlobally>().locks;
    tell("recycle, a million pairs, free one by one", one_by_one);
    EXPECT_GE(one_by_one, kEachOperation);
    EXPECT_LT(one_by_one, kEachOperation * (1 + 3 / kGroup));

    const double groups = produced_and_consumed<Chosen>();
    const double objects = produced_and_consumed<FreesGlobally>();
    tell("one allocates, another frees, a million pairs, in groups", groups);
    tell("one allocates, another frees, a million pairs, one by one", objects);
    EXPECT_LT(groups, kEachOperation * 2.2 / kGroup)
        << "one for the group that is taken, one for the group that is given";
    EXPECT_GE(objects, kEachOperation);
}

}  // namespace gr::lab::boehm_locks_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how often the allocation lock is taken with Boehm's free lists of threads (002, Parallel allocation): with and
//    without the threshold of a page's worth, and where free goes to local lists, in groups, or to the global list.
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
            all.kept_at_end += the_allocator<A>.heaps().lists_of_caller()->free_objects(BlocksOf<A>::bin_of(kSize));
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

// Each of kThreads threads takes so many blocks and frees them, again and again: locks, for all threads.
constexpr std::size_t kPairs = kRounds * kBatch;  // of a thread
template <class A>
double recycled(std::size_t batch) {
    const std::uint64_t before = platform::counted(platform::Event::lock);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
        threads.emplace_back([batch] {
            std::vector<void *> blocks(batch);
            for (std::size_t round = 0; round < kPairs / batch; ++round) {
                for (void *&block : blocks) block = the_allocator<A>.allocate(kSize);
                for (void *const block : blocks) the_allocator<A>.free(block);
            }
            the_allocator<A>.thread_ends();
        });
    for (std::thread &thread : threads) thread.join();
    return static_cast<double>(platform::counted(platform::Event::lock) - before);
}
constexpr double kMillionsOfPairs = static_cast<double>(kThreads * kPairs) / 1e6;

TEST(BoehmLocks, ThreadsRecycleLessThanAPagesWorthWithoutLocks) {
    const double with = recycled<Chosen>(kPagesWorth / 2);
    const double without = recycled<AtOnce>(kPagesWorth / 2);
    tell("half a page's worth at a time, a million pairs", with / kMillionsOfPairs);
    tell("the same without the threshold", without / kMillionsOfPairs);
    EXPECT_LT(with / kMillionsOfPairs, kSeldom);
    // The threshold costs a lock for each object of a page's worth. Beside it: what a thread's begin, refills and end
    // cost.
    constexpr double kBeside = 8;
    EXPECT_LT(without, kThreads * kBeside);
    EXPECT_NEAR(with - without, kThreads * kPagesWorth, kThreads * kBeside);
}

// Beyond two pages' worth a thread keeps nothing, so it takes and gives each page's worth with a lock.
TEST(BoehmLocks, ThreadsRecycleMoreWithTwoLocksForAPagesWorthAtMost) {
    for (const double locks : {recycled<Chosen>(4 * kPagesWorth), recycled<AtOnce>(4 * kPagesWorth)}) {
        tell("four pages' worth at a time, a million pairs", locks / kMillionsOfPairs);
        EXPECT_GT(locks / kMillionsOfPairs, kEachOperation / kGroup / 2);
        EXPECT_LT(locks / kMillionsOfPairs, kEachOperation * 2.2 / kGroup);
    }
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
    const double one_by_one = recycled<FreesGlobally>(kPagesWorth / 2) / kMillionsOfPairs;
    tell("half a page's worth at a time, a million pairs, one by one", one_by_one);
    EXPECT_GE(one_by_one, kEachOperation);

    const double groups = produced_and_consumed<Chosen>();
    const double objects = produced_and_consumed<FreesGlobally>();
    tell("one allocates, another frees, a million pairs, in groups", groups);
    tell("one allocates, another frees, a million pairs, one by one", objects);
    EXPECT_LT(groups, kEachOperation * 2.2 / kGroup)
        << "one for the group that is taken, one for the group that is given";
    EXPECT_GE(objects, kEachOperation);
}

}  // namespace gr::lab::boehm_locks_test

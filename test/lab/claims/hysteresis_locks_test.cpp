// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hysteresis: a heap above its threshold gives many blocks at once to the global heap (Wasik 5.2: half of a list;
//    5.4: containers; Hoard 3: a superblock), and an empty heap keeps something (Hoard 3: K superblocks). So the global
//    heap's lock is taken once for many blocks, and never by a thread that uses one block again and again.
// Invariant: locks are counted, in the counted build, and printed; nothing is timed.
// Must not know: the thresholds.
#include <cstdio>

#include "lab/claims/named_hoard.hpp"
#include "lab/teams.hpp"
#include "platform/events.hpp"

namespace gr::lab::hysteresis_locks_test {

static_assert(kCounted, "in the preset `counted` only");

constexpr std::size_t kBlocks = 2000;
constexpr std::size_t kSize = 200;
constexpr std::size_t kPairs = 1000;
constexpr std::size_t kOtherSize = 3000;

template <class A, class Work>
std::uint64_t global_locks(const char *name, std::size_t count, Work work) {
    const std::uint64_t before = platform::counted(platform::Event::global_lock);
    work();
    const std::uint64_t locks = platform::counted(platform::Event::global_lock) - before;
    std::printf("%zu %s take the global lock %llu times: %s\n", count, name, static_cast<unsigned long long>(locks),
                kNameOf<A>);
    return locks;
}

// Of a heap that has nothing else.
template <class A>
std::uint64_t locks_of_frees() {
    Team<A> team(1);
    const std::vector<void *> blocks = team.allocate(0, kBlocks, kSize);
    return global_locks<A>("frees", kBlocks, [&] { team.free(0, blocks); });
}
// Of a thread that holds nothing of that size, after its first pair.
template <class A>
std::uint64_t locks_of_pairs() {
    Team<A> team(1);
    team.free(0, team.allocate(0, 1, kOtherSize));
    return global_locks<A>("pairs", kPairs, [&] {
        for (std::size_t i = 0; i < kPairs; ++i) team.free(0, team.allocate(0, 1, kOtherSize));
    });
}

TEST(Hysteresis, AHeapThatShrinksGivesManyBlocksForOneLock) {
    for (const std::uint64_t locks : {locks_of_frees<Threads>(), locks_of_frees<Containers>(), locks_of_frees<Owned>(),
                                      locks_of_frees<Restricted>(), locks_of_frees<Chosen>()}) {
        EXPECT_GT(locks, 0U) << "no threshold was reached";
        EXPECT_LT(locks, kBlocks / 16);
    }
}

TEST(Hysteresis, AnEmptyHeapKeepsWhatItTookFromTheGlobalHeap) {
    EXPECT_EQ(locks_of_pairs<Threads>(), 0U);
    EXPECT_EQ(locks_of_pairs<Containers>(), 0U);
    EXPECT_EQ(locks_of_pairs<Owned>(), 0U);
    EXPECT_EQ(locks_of_pairs<Restricted>(), 0U);
    EXPECT_EQ(locks_of_pairs<Chosen>(), 0U);
}

}  // namespace gr::lab::hysteresis_locks_test

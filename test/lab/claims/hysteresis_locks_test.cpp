// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hysteresis: a heap that has reached its threshold gives more than the excess to the global heap (Wasik 5.2: half
//    of a list), and an empty heap keeps something (Hoard 3: K superblocks). So a thread that allocates and frees at such
//    a point stays away from the global heap's lock.
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
constexpr std::size_t kOtherSize = 3000;
constexpr std::size_t kPairs = 1000;

std::uint64_t global_locks() { return platform::counted(platform::Event::global_lock); }

template <class A>
std::uint64_t locks_of_pairs(Team<A> &team, const char *where, std::size_t size) {
    const std::uint64_t before = global_locks();
    for (std::size_t i = 0; i < kPairs; ++i) team.free(0, team.allocate(0, 1, size));
    const std::uint64_t locks = global_locks() - before;
    std::printf("%zu pairs %s take the global lock %llu times: %s\n", kPairs, where,
                static_cast<unsigned long long>(locks), kNameOf<A>);
    return locks;
}

// How often pairs take the global heap's lock after so much was freed that the global heap got something.
template <class A>
std::uint64_t locks_at_threshold() {
    Team<A> team(1);
    std::vector<void *> blocks = team.allocate(0, kBlocks, kSize);
    const std::uint64_t before = global_locks();
    while (global_locks() == before) {
        if (blocks.empty()) {
            ADD_FAILURE() << "no threshold was reached";
            return 0;
        }
        team.free(0, {blocks.back()});
        blocks.pop_back();
    }
    const std::uint64_t locks = locks_of_pairs(team, "at the threshold", kSize);
    team.free(0, blocks);
    return locks;
}
// The same of a thread that holds nothing else, after its first pair.
template <class A>
std::uint64_t locks_when_empty() {
    Team<A> team(1);
    team.free(0, team.allocate(0, 1, kOtherSize));
    return locks_of_pairs(team, "of an empty heap", kOtherSize);
}

TEST(Hysteresis, AHeapAtItsThresholdStaysAwayFromTheGlobalHeap) {
    EXPECT_EQ(locks_at_threshold<Threads>(), 0U);
    EXPECT_EQ(locks_at_threshold<Containers>(), 0U);
    EXPECT_EQ(locks_at_threshold<Owned>(), 0U);
    EXPECT_EQ(locks_at_threshold<Restricted>(), 0U);
    EXPECT_EQ(locks_at_threshold<Chosen>(), 0U);
}

TEST(Hysteresis, AnEmptyHeapKeepsWhatItTookFromTheGlobalHeap) {
    EXPECT_EQ(locks_when_empty<Threads>(), 0U);
    EXPECT_EQ(locks_when_empty<Containers>(), 0U);
    EXPECT_EQ(locks_when_empty<Owned>(), 0U);
    EXPECT_EQ(locks_when_empty<Restricted>(), 0U);
    EXPECT_EQ(locks_when_empty<Chosen>(), 0U);
}

}  // namespace gr::lab::hysteresis_locks_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the example of Hoard's figure 1 (000, 3.2) on three classes of allocator: after each step, how many freed blocks
//    only the first thread finds again, how many only the second, and how many both.
// Invariant: told by addresses. Each step and each thread that looks has a run of its own, for looking takes the blocks.
// Must not know: how blocks come back.
//
//    heap 1: superblocks x (full) and e (all freed)       heap 2: superblock y (full)
//    thread 1: x9 = malloc, free(y4)    thread 2: free(x2)    thread 1: free(x9), which moves the superblock e
//
// K is 1: with the figure's K = 0 heap 1 could not keep a superblock that is empty.
#include <cstdlib>
#include <map>

#include "allocators/hoard.hpp"
#include "lab/teams.hpp"

namespace gr::lab::hoard_example_test {

using Hoard = Chosen;

constexpr std::size_t kSize = 992;      // of Hoard's classes one
constexpr std::size_t kSuperblock = 8;  // blocks of this size in a superblock
constexpr std::size_t kLooks = 8 * kSuperblock;
constexpr const char *kSteps[] = {"before", "t1: x9 = malloc", "t1: free(y4)", "t2: free(x2)", "t1: free(x9)"};

// Blocks by the order in which the program first had them.
using Numbers = std::set<std::size_t>;

template <class A>
class Example {
  public:
    explicit Example(void (*begin)(Team<A> &)) {
        if (begin != nullptr) begin(team_);
        const std::vector<void *> x = allocate(0, kSuperblock);
        const std::vector<void *> e = allocate(0, kSuperblock);
        const std::vector<void *> y = allocate(1, kSuperblock);
        for (void *const block : e) free(0, block);
        x2_ = x[1];
        y4_ = y[3];
    }
    void run(std::size_t steps) {
        void *x9 = nullptr;
        if (steps > 0) x9 = allocate(0, 1).front();
        if (steps > 1) free(0, y4_);
        if (steps > 2) free(1, x2_);
        if (steps > 3) free(0, x9);
    }
    Numbers found_by(std::size_t member) {
        Numbers found;
        for (void *const block : team_.allocate(member, kLooks, kSize))
            if (freed_.count(block) != 0) found.insert(freed_.at(block));
        return found;
    }

  private:
    std::vector<void *> allocate(std::size_t member, std::size_t count) {
        const std::vector<void *> blocks = team_.allocate(member, count, kSize);
        for (void *const block : blocks) {
            numbers_.try_emplace(block, numbers_.size());
            freed_.erase(block);
        }
        return blocks;
    }
    void free(std::size_t member, void *block) {
        team_.free(member, {block});
        freed_.emplace(block, numbers_.at(block));
    }

    std::unique_ptr<A> allocator_ = std::make_unique<A>();
    Team<A> team_{2, *allocator_};
    std::map<void *, std::size_t> numbers_;
    std::map<void *, std::size_t> freed_;
    void *x2_ = nullptr;
    void *y4_ = nullptr;
};

struct Found {
    std::size_t by_first;
    std::size_t by_second;
    std::size_t by_both;
    bool operator==(const Found &) const = default;
};
void PrintTo(const Found &found, std::ostream *out) {
    *out << found.by_first << ", " << found.by_second << ", " << found.by_both;
}

template <class A>
std::vector<Found> found_after_each_step(const char *name, void (*begin)(Team<A> &) = nullptr) {
    std::vector<Found> all;
    for (std::size_t steps = 0; steps < std::size(kSteps); ++steps) {
        const auto found = [&](std::size_t member) {
            Example<A> example(begin);
            example.run(steps);
            return example.found_by(member);
        };
        const Numbers first = found(0);
        const Numbers second = found(1);
        std::size_t both = 0;
        for (const std::size_t number : first) both += second.count(number);
        all.push_back({first.size() - both, second.size() - both, both});
        std::printf("%s, %s: found by t1 %zu, by t2 %zu, by both %zu\n", name, kSteps[steps], all.back().by_first,
                    all.back().by_second, all.back().by_both);
    }
    return all;
}

// Before the last step only a superblock's owner finds its blocks; then both threads find the eight of e.
TEST(HoardExample, HoardGivesTheEmptySuperblockToAll) {
    setenv("GRANARY_LAB", "K=1", 1);
    const std::vector<Found> found = found_after_each_step<Hoard>("hoard");
    unsetenv("GRANARY_LAB");
    EXPECT_EQ(found, (std::vector<Found>{{8, 0, 0}, {7, 0, 0}, {7, 1, 0}, {8, 1, 0}, {1, 1, 8}}));
}

// What a thread frees is its own from then on: y4 is the first thread's, x2 the second's.
TEST(HoardExample, APurePrivateHeapKeepsWhatItsThreadFrees) {
    EXPECT_EQ(found_after_each_step<Private>("private"),
              (std::vector<Found>{{8, 0, 0}, {7, 0, 0}, {8, 0, 0}, {8, 1, 0}, {9, 1, 0}}));
}

// Blocks go back to their heaps, but no heap gives any to the other.
TEST(HoardExample, APrivateHeapWithOwnershipKeepsItsOwnBlocks) {
    const auto part = [](Team<PtmallocLike> &team) { team.part(); };
    EXPECT_EQ(found_after_each_step<PtmallocLike>("ptmalloc-like", part),
              (std::vector<Found>{{8, 0, 0}, {7, 0, 0}, {7, 1, 0}, {8, 1, 0}, {9, 1, 0}}));
}

}  // namespace gr::lab::hoard_example_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tests of collector/pace_policy.hpp: each policy runs simulated programs; bounds on the number of collections and
//    on the memory.
// Invariant: no clock; a program's rates are numbers of the test. The rule that is compared with is bdwgc's: collect where
//    the heap has no free block that serves and a part of what is marked was allocated, else grow by a part of the heap.
// Must not know: a heap.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "collector/pace.hpp"

namespace gr::pace_simulation_test {

constexpr std::size_t kStep = 64 * kKiB;  // allocated at once: a superblock's worth

// All in bytes.
struct Program {
    const char *name;
    std::size_t total;                           // allocated in the program's life
    std::size_t (*live)(std::size_t allocated);  // when so much was allocated
    unsigned pinned = 0;                         // of a hundred dead bytes, how many lie in units that something keeps
    unsigned served = 100;           // of a hundred free bytes in such units, how many have the sizes that are wanted
    std::size_t asks_at = SIZE_MAX;  // where the program collects itself
    bool has_pointers = true;
    double allocates = 1.0 / 2;  // bytes in a nanosecond
    double marks = 1;            // bytes in a nanosecond

    friend std::ostream &operator<<(std::ostream &out, const Program &program) { return out << program.name; }
};

constexpr std::size_t kCells = 96 * kMiB;  // of the fragmented program: of these an eighth stays

std::size_t up_to(std::size_t most, std::size_t allocated) { return std::min(most, allocated); }

constexpr Program kSteady{
    .name = "steady", .total = 2048 * kMiB, .live = [](std::size_t a) { return up_to(64 * kMiB, a); }, .pinned = 20};
constexpr Program kGrowing{.name = "growing", .total = 1024 * kMiB, .live = [](std::size_t a) { return a; }};
constexpr Program kFragmented{.name = "fragmented",
                              .total = 2 * kCells,
                              .live = [](std::size_t a) { return a < kCells ? a : kCells / 8 + (a - kCells); },
                              .pinned = 100,
                              .served = 0,
                              .asks_at = kCells};
constexpr Program kBreathing{.name = "breathing",
                             .total = 4096 * kMiB,
                             .live = [](std::size_t a) { return a / (256 * kMiB) % 2 == 0 ? 8 * kMiB : 128 * kMiB; },
                             .pinned = 20};
constexpr Program kTiny{
    .name = "tiny", .total = 256 * kMiB, .live = [](std::size_t a) { return up_to(256 * kKiB, a); }, .pinned = 50};
constexpr Program kPixels{.name = "pixels",
                          .total = 2048 * kMiB,
                          .live = [](std::size_t a) { return up_to(256 * kMiB, a); },
                          .has_pointers = false};
constexpr const Program *kPrograms[] = {&kSteady, &kGrowing, &kFragmented, &kBreathing, &kTiny, &kPixels};

struct Outcome {
    std::size_t collections = 0;  // those that the program asked for, too
    std::size_t peak = 0;         // bytes held
};

// A heap: what is held, and how much of that is free and serves.
class Heap {
  public:
    explicit Heap(const Program &program) : program_(program) {}

    bool serves() const { return free_ >= kStep; }
    void take() {
        used_ += kStep;
        allocated_ += kStep;
        if (serves()) {
            free_ -= kStep;
        } else {
            hold(held_ + kStep);
        }
    }
    void hold(std::size_t bytes) {
        held_ = bytes;
        outcome_.peak = std::max(outcome_.peak, held_);
    }
    void grow(std::size_t bytes) {
        hold(held_ + bytes);
        free_ += bytes;
    }
    // `keeps`: what is empty stays in the heap.
    void collect(bool keeps) {
        ++outcome_.collections;
        const std::size_t live = std::min(program_.live(allocated_), used_);
        const std::size_t pinned = (held_ - live) / 100 * program_.pinned;
        const std::size_t empty = held_ - live - pinned;
        free_ = pinned / 100 * program_.served + (keeps ? empty : 0);
        held_ = keeps ? held_ : live + pinned;
        used_ = last_ = live;
    }
    bool is_done() const { return allocated_ >= program_.total; }
    bool asks() const { return allocated_ == program_.asks_at; }
    std::size_t held() const { return held_; }
    std::size_t live() const { return last_; }
    std::size_t since() const { return used_ - last_; }
    const Outcome &outcome() const { return outcome_; }

  private:
    const Program &program_;
    std::size_t held_ = 0;
    std::size_t used_ = 0;  // by live blocks and by dead ones
    std::size_t free_ = 0;
    std::size_t last_ = 0;  // what the last collection found to live
    std::size_t allocated_ = 0;
    Outcome outcome_;
};

std::uint64_t nanoseconds(std::size_t bytes, double rate) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) / rate);
}

void collect(const Program &program, Heap *heap, Pace *pace) {
    heap->collect(false);
    Found found;
    found.add_live(program.has_pointers, heap->live());
    found.held = heap->held();
    found.nanoseconds = nanoseconds(heap->live(), program.marks);
    pace->learn(found);
}

Outcome run(const Program &program, GcPolicy policy, std::size_t size = 0) {
    Pace pace;
    pace.set_policy(policy);
    pace.set_size(size);
    Heap heap(program);
    while (!heap.is_done()) {
        heap.take();
        if (!heap.asks() && !pace.is_due(heap.held())) continue;
        if (!heap.asks() && !pace.is_reconsidered())
            pace.reconsider(heap.held(), heap.since(), nanoseconds(heap.since(), program.allocates));
        if (heap.asks() || pace.is_due(heap.held())) collect(program, &heap, &pace);
    }
    return heap.outcome();
}

Outcome run_as_bdwgc(const Program &program) {
    constexpr std::size_t kDivisor = Circumstances::kUsualDivisor;
    constexpr std::size_t kMostStep = 16 * kMiB;
    Heap heap(program);
    while (!heap.is_done()) {
        const std::size_t worth = program.has_pointers ? 2 * heap.live() : heap.live() / 4;
        if (!heap.serves() && heap.since() != 0 && heap.since() >= worth / kDivisor) heap.collect(true);
        if (!heap.serves()) heap.grow(std::clamp(heap.held() / kDivisor, kStep, kMostStep));
        heap.take();
        if (heap.asks()) heap.collect(true);
    }
    return heap.outcome();
}

constexpr GcPolicy kAllPolicies[] = {GcPolicy::proportional, GcPolicy::growable, GcPolicy::fixed,
                                     GcPolicy::square_root};
static_assert(std::size(kAllPolicies) == kGcPolicies, "every policy is simulated");

TEST(PaceSimulation, TheDefaultCollectsAsSeldomAsBdwgcInAsMuchMemory) {
    for (const Program *program : kPrograms) {
        const Outcome ours = run(*program, GcPolicy::proportional);
        const Outcome theirs = run_as_bdwgc(*program);
        EXPECT_LE(10 * ours.collections, 13 * theirs.collections) << *program;
        EXPECT_LE(ours.peak, theirs.peak + theirs.peak / 10 + 16 * kMiB) << *program;
    }
}

// However much of the heap does not serve.
TEST(PaceSimulation, NoPolicyThrashesOnAFragmentedHeap) {
    for (const GcPolicy policy : kAllPolicies) {
        const Outcome outcome = run(kFragmented, policy);
        EXPECT_LE(outcome.collections, policy == GcPolicy::fixed ? 16U : 10U) << static_cast<int>(policy);
        EXPECT_LE(outcome.peak, 2 * kCells + kMiB) << static_cast<int>(policy);
    }
}

TEST(PaceSimulation, AHeapOfAFixedSizeIsCollectedWhenItIsFull) {
    constexpr std::size_t kSize = 512 * kMiB;
    for (const Program *program : {&kSteady, &kBreathing, &kTiny}) {
        const Outcome outcome = run(*program, GcPolicy::fixed, kSize);
        EXPECT_LE(outcome.peak, kSize + kStep) << *program;
        EXPECT_LE(outcome.collections, program->total / (kSize / 2)) << *program;
    }
}

TEST(PaceSimulation, AGrowableHeapIsCollectedLessOftenAndIsNoLarger) {
    const Outcome growable = run(kBreathing, GcPolicy::growable);
    const Outcome proportional = run(kBreathing, GcPolicy::proportional);
    EXPECT_LT(growable.collections, proportional.collections);
    EXPECT_LE(growable.peak, proportional.peak + kStep);
}

Program with_rates(Program program, double allocates, double marks) {
    program.allocates = allocates;
    program.marks = marks;
    return program;
}

TEST(PaceSimulation, ByTheSquareRootAProgramThatAllocatesFastGetsMoreMemory) {
    const Outcome slow = run(with_rates(kSteady, 0.05, 1), GcPolicy::square_root);
    const Outcome middle = run(with_rates(kSteady, 0.5, 1), GcPolicy::square_root);
    const Outcome fast = run(with_rates(kSteady, 5, 1), GcPolicy::square_root);
    EXPECT_LT(slow.peak, middle.peak);
    EXPECT_LT(middle.peak, fast.peak);
    EXPECT_GT(slow.collections, middle.collections);
    EXPECT_GT(middle.collections, fast.collections);
}

TEST(PaceSimulation, WhereAllIsSlowAsOnALoadedMachineNothingChanges) {
    const Outcome alone = run(with_rates(kSteady, 0.5, 1), GcPolicy::square_root);
    const Outcome loaded = run(with_rates(kSteady, 0.5 / 64, 1.0 / 64), GcPolicy::square_root);
    EXPECT_EQ(loaded.collections, alone.collections);
    EXPECT_EQ(loaded.peak, alone.peak);
}

TEST(PaceSimulation, WhateverTimeSaysTheGrowthIsBounded) {
    const Outcome usual = run(kSteady, GcPolicy::proportional);
    const Outcome most = run(with_rates(kSteady, 1e3, 1e-3), GcPolicy::square_root);
    const Outcome least = run(with_rates(kSteady, 1e-3, 1e3), GcPolicy::square_root);
    EXPECT_LE(least.collections, usual.collections * (policies::kMostByTime + 1));
    EXPECT_LE(most.peak, usual.peak * policies::kMostByTime);
    EXPECT_LT(most.collections, usual.collections);
}

// Twice the growth for four times what lives: of two programs the larger gets less for each byte.
TEST(PaceSimulation, TheSquareRootGrowsWithTheRootOfWhatLives) {
    Circumstances now;
    now.allocated.learn(kMiB, kMiB);
    now.marked.learn(kMiB, kMiB);
    const auto growth = [&](std::size_t live) {
        return plan_by(GcPolicy::square_root, {.live_with_pointers = live, .held = live}, now).growth;
    };
    EXPECT_NEAR(static_cast<double>(growth(256 * kMiB)), 2 * static_cast<double>(growth(64 * kMiB)), kKiB);
    EXPECT_NEAR(static_cast<double>(growth(64 * kMiB)), 64 * kMiB, kKiB);
}

}  // namespace gr::pace_simulation_test

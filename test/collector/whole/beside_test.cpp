// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an incremental collection, step by step: what the program does between two steps, and what the collection
//    keeps.
// Invariant: the thread that collects goes on only when the test has done what it wanted to do there, so nothing depends
//    on time but the number of stops for roots: what is to come after the last of them is done before each.
// Must not know: the names of gc.h; how it is found out what was written.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "collector/all_kinds.hpp"
#include "instance/instances.hpp"
#include "platform/reentry.hpp"

namespace gr::beside_test {

using namespace fake;

constexpr std::size_t kMostStops = CollectionReport::kMostRootStops + 1;

bool is_used(std::uintptr_t word) { return collector.block_at(shown(word)).begin == shown(word); }

void arrive_on_stage(Step step);

// Where the thread that collects has got to: it waits at each step at which the program runs.
class Stage {
  public:
    // In the thread that collects.
    void arrive(Step step) {
        if (step == Step::stopped) stands_ = true;
        if (step == Step::resuming) stands_ = false;
        if (step == Step::marking) is_last_stop_ = true;
        if (step != Step::stopping && step != Step::resumed && step != Step::end) return;
        step_ = step;
        // release and acquire: the step, and what the test does there.
        waits_.store(true, std::memory_order_release);
        while (waits_.load(std::memory_order_acquire)) sched_yield();
    }
    bool stands() const { return stands_; }

    // In the program's thread: one collection. before(i) comes before the i-th stop, after() between the last one and the sweep.
    template <class Before, class After>
    void run(Before before, After after) {
        is_last_stop_ = false;
        tell_of_steps(arrive_on_stage);
        std::size_t stops = 0;
        for (Step step = Step::begin; step != Step::end;) {
            while (!waits_.load(std::memory_order_acquire)) {
                collector.request_incremental();  // again: a thread that has just ended one may not have heard it
                sched_yield();
            }
            step = step_;
            if (step == Step::stopping) before(stops++);
            if (step == Step::resumed && is_last_stop_) after();
            waits_.store(false, std::memory_order_release);
        }
        while (collector.is_incremental_under_way()) sched_yield();
        tell_of_steps(nullptr);
    }

  private:
    static void tell_of_steps(void (*hook)(Step)) {
        collector.lock();
        collector.hooks().step = hook;
        collector.unlock();
    }

    Step step_ = Step::begin;
    std::atomic<bool> waits_{false};
    std::atomic<bool> stands_{false};
    std::atomic<bool> is_last_stop_{false};
};

Stage stage;
void arrive_on_stage(Step step) { stage.arrive(step); }
std::atomic<std::uintptr_t> held{0};  // hidden

class Beside : public testing::Test {
  protected:
    void SetUp() override {
        kinds();
        collector.pace().automatic = false;
        collector.lock();
        const char *const lack = collector.enable_incremental();
        // Nothing that threads have.
        collector.hooks().push_roots = [] {
            if (held != 0) Marker::current()->consider(~held);
        };
        collector.unlock();
        if (lack != nullptr) GTEST_SKIP() << lack;
    }
    void TearDown() override {
        collector.lock();
        collector.hooks() = {};
        collector.unlock();
        held = 0;
        EXPECT_EQ(instances.first_fault(), nullptr);
    }

    // Of blocks that are freed before one stop: with those of other stops in a superblock, or alone, so that it falls empty.
    enum class Lie { mixed, together };

    static void *make(KindName kind, std::size_t words) {
        return collector.allocate(*kinds()[kind].kind, words * sizeof(void *));
    }
    // Blocks to which nothing refers, some of which the program frees before each stop, of words that no other test
    // has; what is taken between the last stop and the sweep are some of these. How many of those that were freed after
    // the snapshot.
    template <class Free>
    std::size_t free_and_take_again(std::size_t words, std::size_t count, Lie lie, Free free) {
        std::array<std::vector<std::uintptr_t>, kMostStops> dead;
        for (std::size_t i = 0; i < count * kMostStops; ++i)
            dead[lie == Lie::mixed ? i % kMostStops : i / count].push_back(hidden(make(kNormal, words)));
        std::set<std::uintptr_t> freed;  // before the last stop
        std::vector<std::uintptr_t> taken;
        stage.run(
            [&](std::size_t i) {
                ASSERT_LT(i, kMostStops);
                freed = {dead[i].begin(), dead[i].end()};
                for (const std::uintptr_t block : freed) free(*kinds()[kNormal].kind, shown(block));
            },
            [&] {
                for (std::size_t i = 0; i < count * kMostStops; ++i) taken.push_back(hidden(make(kNormal, words)));
            });
        EXPECT_TRUE(collector.last().done);
        EXPECT_TRUE(std::ranges::all_of(taken, is_used)) << "a block that somebody has was swept";
        return static_cast<std::size_t>(
            std::ranges::count_if(taken, [&](std::uintptr_t block) { return freed.contains(block); }));
    }
    // Until one is among them, because the program's thread may come to another heap.
    template <class Free>
    void free_and_take_again_until_it_counts(std::size_t words, std::size_t count, Lie lie, Free free) {
        for (unsigned turn = 0; turn < 20 && !HasFailure(); ++turn) {
            if (free_and_take_again(words, count, lie, free) != 0) return;
        }
        ADD_FAILURE() << "nothing was taken again";
    }
};

TEST_F(Beside, WhatIsFreedAfterTheSnapshotIsWhosHasItAtTheSweep) {
    free_and_take_again_until_it_counts(13, 1000, Lie::mixed,
                                        [](Kind &kind, void *block) { Collector::free(kind, block); });
}

// Its units are another superblock's by then, and no block of that one is garbage.
TEST_F(Beside, WhatFallsEmptyAfterTheSnapshotIsAnothersAtTheSweep) {
    free_and_take_again_until_it_counts(17, 5000, Lie::together,
                                        [](Kind &kind, void *block) { Collector::free(kind, block); });
}

// As in a handler that interrupts the allocator: it waits in the remote bits, and comes back when the last stop is over.
TEST_F(Beside, WhatWaitsInRemoteBitsAtTheLastStopIsWhosHasItAtTheSweep) {
    free_and_take_again_until_it_counts(19, 100, Lie::mixed, [](Kind &kind, void *block) {
        const platform::Reentry entry;
        Collector::free(kind, block);
    });
}

constexpr std::size_t kAsked = 10;
std::atomic<unsigned> asked{0};
std::atomic<unsigned> asked_while_it_runs{0};

Task *push_first_when_asked(std::uintptr_t *block, Task *top, Task *, std::uintptr_t) {
    ++(stage.stands() ? asked : asked_while_it_runs);
    Marker::current()->consider(block[0]);
    return top;
}

TEST_F(Beside, WhatMustBeAskedIsAskedWhileNobodyChangesIt) {
    constexpr std::uintptr_t kProcedureForm = 2;
    static Kind *const kind = [] {
        collector.lock();
        collector.procedures()[kAsked] = push_first_when_asked;
        Kind *const made = collector.make_kind({.descriptor = Descriptor(kAsked << 2 | kProcedureForm)});
        collector.unlock();
        return made;
    }();
    auto **const object = static_cast<void **>(collector.allocate(*kind, 4 * sizeof(void *)));
    const std::uintptr_t known = hidden(object[0] = make(kNormal, 4));
    held = hidden(object);
    asked = asked_while_it_runs = 0;
    stage.run([](std::size_t) {}, [] {});
    EXPECT_TRUE(collector.last().done);
    EXPECT_GE(asked, 1U);
    EXPECT_EQ(asked_while_it_runs, 0U);
    EXPECT_TRUE(is_used(known));
}

std::atomic<bool> is_in_call{false};
std::atomic<unsigned> met{0};
std::atomic<unsigned> missed{0};

// The program's own code, in each stop of such a collection.
TEST_F(Beside, CodeOfTheProgramRunsWhileItWaits) {
    collector.lock();
    collector.hooks().calls_program = [] { return true; };
    collector.hooks().push_roots = [] { ++(is_in_call ? met : missed); };
    collector.unlock();
    met = missed = 0;
    for (const std::uint64_t before = collector.last().number; collector.last().number == before;) {
        collector.request_incremental();
        is_in_call = true;
        collector.wait_for_incremental(1);
        is_in_call = false;
    }
    EXPECT_GE(met, 2U);  // for the roots, and the last
    EXPECT_EQ(missed, 0U);
}

std::atomic<bool> is_stopping{false};
std::atomic<bool> has_left{false};
std::atomic<unsigned> stops{0};

// The thread that came to meet goes on before the stop: this stop comes to nothing, and the next one waits for a thread
// again.
TEST_F(Beside, WhoHasLeftBeforeTheStopIsMetAgain) {
    collector.lock();
    collector.hooks().calls_program = [] { return true; };
    collector.hooks().push_roots = [] { ++(is_in_call ? met : missed); };
    collector.hooks().step = [](Step step) {
        if (step == Step::stopping) is_stopping = true;
        while (step == Step::stopping && !has_left) sched_yield();
        if (step == Step::stopped) ++stops;
    };
    collector.unlock();
    met = missed = stops = 0;
    is_stopping = has_left = false;
    const auto call = [] {
        collector.request_incremental();
        is_in_call = true;
        collector.wait_for_incremental(1);
        is_in_call = false;
    };
    const std::uint64_t before = collector.last().number;
    while (!is_stopping) call();
    has_left = true;
    while (stops == 0) sched_yield();
    while (collector.last().number == before) call();
    EXPECT_GE(met, 2U);
    EXPECT_EQ(missed, 0U);
}

TEST_F(Beside, WhoWaitsForTheProgramDoesNotKeepItFromCollecting) {
    collector.lock();
    collector.hooks().calls_program = [] { return true; };
    collector.unlock();
    while (!collector.is_incremental_under_way()) {
        collector.request_incremental();
        sched_yield();
    }
    EXPECT_TRUE(collector.collect().done);
    while (collector.is_incremental_under_way()) sched_yield();
}

TEST_F(Beside, WhatIsForbiddenMeanwhileIsNotDone) {
    static std::atomic<bool> is_forbidden{false};
    is_forbidden = false;
    collector.lock();
    collector.hooks().must_stop = [] { return is_forbidden.load(); };
    collector.unlock();
    const std::uint64_t before = collector.last().number;
    stage.run([](std::size_t) { is_forbidden = true; }, [] {});
    EXPECT_EQ(collector.last().number, before);
    is_forbidden = false;
    stage.run([](std::size_t) {}, [] {});
    EXPECT_EQ(collector.last().number, before + 1);
}

// Pages of what rests go back.
TEST_F(Beside, OfWhichBlocksAreTakenDoesNotRestUntilNobodyDoes) {
    constexpr std::size_t kWords = 100;
    const auto superblock_of = [](const void *block) {
        const Instance &instance = kinds()[kNormal].kind->instance;
        return instance.superblocks().head(instance.region().unit_of(block));
    };
    held = hidden(make(kNormal, kWords));
    const Superblock *const s = superblock_of(shown(held));
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(collector.collect().done);
    EXPECT_TRUE(s->rested);
    std::set<const Superblock *> used;
    for (std::size_t i = 0; i < 10; ++i) used.insert(superblock_of(make(kNormal, kWords)));
    stage.run([](std::size_t) {}, [] {});
    EXPECT_TRUE(std::ranges::none_of(used, [](const Superblock *one) { return one->rested; }));
    stage.run([](std::size_t) {}, [] {});
    EXPECT_TRUE(s->rested);
}

}  // namespace gr::beside_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: walks against what the test has allocated: alone, beside threads that allocate and free, and where the kernel or
//       the caller's moment does not allow one.
// Invariant: what is in use all the time is visited once; what is free all the time is not.
// Must not know: how a walk finds blocks.
#include "instance/walk.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "instance/fresh_instance.hpp"
#include "platform/reentry.hpp"

namespace gr::walk_test {

using fake::Call;
using fake::FreshInstance;

using Blocks = std::map<void *, std::size_t>;
using Visit = std::function<int(void *, std::size_t)>;

struct Walked {
    int said;
    int error;
};

Walked walk(Instance &instance, const Visit &visit) {
    Walk walk([](void *context, void *block,
                 std::size_t bytes) { return (*static_cast<const Visit *>(context))(block, bytes); },
              const_cast<Visit *>(&visit));
    walk.visit(instance);
    return {walk.said(), walk.error()};
}

Blocks visited(Instance &instance) {
    Blocks blocks;
    const Walked walked = walk(instance, [&](void *block, std::size_t bytes) {
        EXPECT_TRUE(blocks.emplace(block, bytes).second) << block << " is visited twice";
        return 0;
    });
    EXPECT_EQ(walked.said, 0);
    EXPECT_EQ(walked.error, 0);
    return blocks;
}

// Of every kind: classes, runs, direct blocks.
std::size_t some_size(std::mt19937 &random) {
    const std::size_t top = random() % 400 == 0 ? 40 * kMiB : random() % 20 == 0 ? kMiB : 3000;
    return random() % top;
}

TEST(Walk, VisitsExactlyWhatIsInUse) {
    FreshInstance instance;
    EXPECT_TRUE(visited(*instance).empty());
    std::mt19937 random{11};
    Blocks live;
    for (int step = 0; step < 8000; ++step) {
        if (live.size() < 500 || random() % 2 == 0) {
            if (void *const p = instance->allocate(some_size(random))) live[p] = instance->usable_size("test", p);
        }
        if (live.size() > 300 && random() % 2 == 0) {
            auto victim = live.lower_bound(reinterpret_cast<void *>(random() * std::uintptr_t{0x1000001}));
            if (victim == live.end()) victim = live.begin();
            // Some by another thread: they go by remote magazines, messages and remote bits.
            if (random() % 16 == 0) {
                std::thread([&] { instance->free("test", victim->first); }).join();
            } else {
                instance->free("test", victim->first);
            }
            live.erase(victim);
        }
        if (step % 200 == 0) {
            ASSERT_EQ(visited(*instance), live) << "step " << step;
        }
    }
    for (const auto &[p, bytes] : live) instance->free("test", p);
    EXPECT_TRUE(visited(*instance).empty());
}

// More than one copy has room for, with superblocks of several units and runs across its ends.
TEST(Walk, GoesOnWhereOneCopyEnds) {
    FreshInstance instance;
    Blocks live;
    std::mt19937 random{12};
    std::size_t bytes = 0;
    while (bytes < 2 * kWalkUnits * kUnitBytes + 5 * kMiB) {
        const std::size_t size = random() % 3 == 0 ? random() % kMiB : 5000 + random() % 27000;
        void *const p = instance->allocate(size);
        ASSERT_NE(p, nullptr);
        bytes += live[p] = instance->usable_size("test", p);
    }
    ASSERT_GT(instance->region().unit_end().value, 2 * kWalkUnits);
    EXPECT_EQ(visited(*instance), live);
    for (const auto &[p, size] : live) instance->free("test", p);
}

TEST(Walk, EndsWhenTheCallSaysSo) {
    FreshInstance instance;
    std::vector<void *> blocks;
    for (const std::size_t size : {std::size_t{10}, std::size_t{10}, 70 * kKiB, 40 * kMiB, 40 * kMiB})
        blocks.push_back(instance->allocate(size));
    for (std::size_t end = 1; end <= blocks.size(); ++end) {
        std::size_t seen = 0;
        const Walked walked = walk(*instance, [&](void *, std::size_t) { return ++seen == end ? -7 : 0; });
        EXPECT_EQ(walked.said, -7);
        EXPECT_EQ(walked.error, 0);
        EXPECT_EQ(seen, end);
    }
    for (void *const p : blocks) instance->free("test", p);
}

TEST(Walk, TheCallMayFreeWhatItIsGivenAndAllocate) {
    FreshInstance instance;
    std::mt19937 random{13};
    Blocks live;
    for (int i = 0; i < 3000; ++i) {
        if (void *const p = instance->allocate(some_size(random))) live[p] = instance->usable_size("test", p);
    }
    std::vector<void *> more;
    const Walked walked = walk(*instance, [&](void *block, std::size_t bytes) {
        const auto found = live.find(block);
        // What is made meanwhile may be visited; it lies nowhere that something lives.
        if (found == live.end()) return 0;
        EXPECT_EQ(found->second, bytes);
        live.erase(found);
        instance->free("test", block);
        if (more.size() < 2000) more.push_back(instance->allocate(bytes));
        return 0;
    });
    EXPECT_EQ(walked.said + walked.error, 0);
    EXPECT_TRUE(live.empty());
    EXPECT_EQ(instance->first_fault(), nullptr);
    for (void *const p : more) instance->free("test", p);
    EXPECT_TRUE(visited(*instance).empty());
}

TEST(Walk, MayBeginInAnother) {
    FreshInstance instance;
    std::vector<void *> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(instance->allocate(100));
    std::size_t pairs = 0;
    walk(*instance, [&](void *, std::size_t) {
        pairs += visited(*instance).size();
        return 0;
    });
    EXPECT_EQ(pairs, 100U * 100U);
    for (void *const p : blocks) instance->free("test", p);
}

TEST(Walk, BesideThreadsWhatStaysIsVisitedOnceAndWhatIsFreeIsNot) {
    FreshInstance instance;
    std::mt19937 random{14};
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    // What one thread allocates another may free.
    static std::atomic<void *> shared[256];
    for (unsigned seed = 0; seed < 3; ++seed) {
        threads.emplace_back([&, seed] {
            std::mt19937 own{seed};
            while (!over.load(std::memory_order_relaxed)) {
                void *const p = instance->allocate(16 + own() % 700);
                if (void *const old = shared[own() % 256].exchange(p)) instance->free("test", old);
            }
        });
    }
    Blocks kept;
    for (int round = 0; round < 60; ++round) {
        for (int i = 0; i < 50; ++i) {
            const std::size_t size = i % 25 == 0 ? random() % kMiB : random() % 700;
            void *const p = instance->allocate(size);
            kept[p] = instance->usable_size("test", p);
        }
        const Blocks seen = visited(*instance);
        for (const auto &[p, bytes] : kept) {
            const auto found = seen.find(p);
            ASSERT_TRUE(found != seen.end()) << p << " of " << bytes << " bytes is not visited in round " << round;
            ASSERT_EQ(found->second, bytes);
        }
    }
    over = true;
    for (std::thread &thread : threads) thread.join();
    for (std::atomic<void *> &block : shared) {
        if (void *const p = block.exchange(nullptr)) instance->free("test", p);
    }
    EXPECT_EQ(visited(*instance), kept) << "what the threads freed is visited, or what they left is not";
    for (const auto &[p, bytes] : kept) instance->free("test", p);
}

// Threads allocate and free blocks of one class: those that they hold are visited, and perhaps as many that they have just
// freed; never what lies in magazines besides.
TEST(Walk, BesideThreadsWhatLiesInMagazinesIsNotVisited) {
    FreshInstance instance;
    constexpr unsigned kThreads = 3;
    constexpr std::size_t kHeld = 40;
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            void *held[kHeld];
            while (!over.load(std::memory_order_relaxed)) {
                for (void *&p : held) p = instance->allocate(200);
                for (void *const p : held) instance->free("test", p);
            }
        });
    }
    for (int round = 0; round < 300; ++round) ASSERT_LE(visited(*instance).size(), 2 * kThreads * kHeld) << round;
    over = true;
    for (std::thread &thread : threads) thread.join();
    EXPECT_TRUE(visited(*instance).empty());
}

TEST(Walk, WithoutMemoryForItsCopyThereIsNone) {
    FreshInstance instance;
    void *const p = instance->allocate(100);
    fake::fail(Call::map, 0, 1);
    const Walked walked = walk(*instance, [](void *, std::size_t) { return 1; });
    EXPECT_EQ(walked.error, ENOMEM);
    EXPECT_EQ(walked.said, 0);
    EXPECT_EQ(visited(*instance).size(), 1U) << "the next one";
    instance->free("test", p);
}

TEST(Walk, GivesItsMemoryBack) {
    FreshInstance instance;
    void *const p = instance->allocate(100);
    const std::size_t mapped = fake::mapped_bytes();
    EXPECT_EQ(visited(*instance).size(), 1U);
    walk(*instance, [](void *, std::size_t) { return 1; });
    EXPECT_EQ(fake::mapped_bytes(), mapped);
    instance->free("test", p);
}

// As a handler that interrupted the heaps: it would wait for itself.
TEST(Walk, IsRefusedInside) {
    FreshInstance instance;
    void *const p = instance->allocate(100);
    {
        const platform::Reentry entry;
        EXPECT_EQ(walk(*instance, [](void *, std::size_t) { return 1; }).error, EBUSY);
    }
    EXPECT_EQ(visited(*instance).size(), 1U);
    instance->free("test", p);
}

TEST(Walk, OfSeveralInstancesEndsOnce) {
    FreshInstance instance;
    void *const p = instance->allocate(100);
    int calls = 0;
    Walk walk([](void *context, void *, std::size_t) { return ++*static_cast<int *>(context); }, &calls);
    walk.visit(*instance);
    walk.visit(*instance);
    EXPECT_EQ(walk.said(), 1);
    EXPECT_EQ(calls, 1);
    instance->free("test", p);
}

}  // namespace gr::walk_test

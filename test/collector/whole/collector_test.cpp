// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the walk of a collection: what is reachable stays as it was, what is not goes, in every kind, however it is held.
// Invariant: a hidden pointer is a complement, which no marker takes for one; where a stale word could hold a block by
//    chance a test asks for most of many blocks, not for one.
// Must not know: the names of gc.h.
#include "collector/collector.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "instance/instances.hpp"
#include "platform/process.hpp"
#include "platform/rseq/per_cpu_counter.hpp"

namespace gr::collector_test {

constexpr std::size_t kMany = 2000;

struct Kinds4 {
    Kind *atomic;
    Kind *normal;
    Kind *uncollectable;
};

// The collector of the process starts once.
const Kinds4 &kinds() {
    static const Kinds4 made = [] {
        EXPECT_TRUE(collector.start(SIGPWR));
        collector.lock();
        Kinds4 k{};
        k.atomic = collector.make_kind({.zeroed = false});
        k.normal = collector.make_kind({.adds_size = true});
        k.uncollectable = collector.make_kind({.adds_size = true, .lifetime = Lifetime::until_freed});
        collector.unlock();
        return k;
    }();
    return made;
}

std::uintptr_t hidden(const void *p) { return ~reinterpret_cast<std::uintptr_t>(p); }
void *shown(std::uintptr_t word) { return reinterpret_cast<void *>(~word); }

bool is_used(std::uintptr_t word) { return word != 0 && collector.block_at(shown(word)).begin == shown(word); }

// What lay below the frames that made blocks.
[[gnu::noinline]] void wipe_stack() {
    volatile char dirt[16 * 1024];
    for (volatile char &c : dirt) c = 0;
}

// On a stack of its own, that is gone when a collection looks for pointers.
template <class Work>
void apart(Work work) {
    std::thread(work).join();
}

template <class Make>
std::vector<std::uintptr_t> make_hidden(std::size_t count, Make make) {
    std::vector<std::uintptr_t> all;
    apart([&] {
        for (std::size_t i = 0; i < count; ++i) all.push_back(hidden(make(i)));
    });
    return all;
}

std::size_t used_of(const std::vector<std::uintptr_t> &all) {
    return static_cast<std::size_t>(std::ranges::count_if(all, is_used));
}

class Collection : public ::testing::Test {
  protected:
    Collection() : kinds_(kinds()) { collector.pace().automatic = false; }
    ~Collection() override { EXPECT_EQ(instances.first_fault(), nullptr); }

    void *make(std::size_t bytes) { return collector.allocate(*kinds_.normal, bytes); }
    CollectionReport collect() {
        wipe_stack();
        const CollectionReport report = collector.collect();
        EXPECT_TRUE(report.done);
        return report;
    }

    const Kinds4 &kinds_;
};

TEST_F(Collection, WhatNobodyHoldsGoes) {
    const auto all = make_hidden(kMany, [&](std::size_t i) { return make(16 + i % 2000); });
    EXPECT_EQ(used_of(all), kMany);
    collect();
    EXPECT_LE(used_of(all), kMany / 100);
}

TEST_F(Collection, WhatALocalVariableHoldsStays) {
    char *const block = static_cast<char *>(make(100));
    std::memset(block, 7, 100);
    collect();
    EXPECT_TRUE(is_used(hidden(block)));
    EXPECT_TRUE(std::all_of(block, block + 100, [](char c) { return c == 7; }));
}

std::size_t resident_pages_of_marks(const Kind &kind) {
    std::size_t pages = 0;
    const std::size_t step = platform::page_size();
    for (const platform::Range table : kind.marks.addresses()) {
        // Addresses beyond what was ever covered are reserved, and empty.
        for (const char *p = table.begin; p < table.end; p += std::min(kMiB, table.bytes())) {
            unsigned char resident[kMiB / 4096];
            if (mincore(const_cast<char *>(p), kMiB, &resident[0]) != 0) continue;
            pages += static_cast<std::size_t>(std::count_if(&resident[0], &resident[kMiB / step],
                                                            [](unsigned char page) { return (page & 1) != 0; }));
        }
    }
    return pages;
}

TEST_F(Collection, WhenLittleIsLeftMarksGiveTheirMemoryBack) {
    constexpr std::size_t kBytes = 1000;
    constexpr std::size_t kBlocks = 100 * kMiB / kBytes;
    static void **volatile list;
    const auto build = [&](std::size_t blocks) {
        for (std::size_t i = 0; i < blocks; ++i) {
            auto **const block = static_cast<void **>(make(kBytes));
            *block = const_cast<void **>(list);
            list = block;
        }
    };
    apart([&] { build(kBlocks); });
    collect();
    const std::size_t most = resident_pages_of_marks(*kinds_.normal);
    list = nullptr;
    apart([&] { build(kMany); });
    collect();
    EXPECT_LT(resident_pages_of_marks(*kinds_.normal), most / 2);
    // What is left is as it was, and so is what comes after it.
    apart([&] { build(kBlocks); });
    collect();
    std::size_t count = 0;
    for (void **block = list; block != nullptr; block = static_cast<void **>(*block)) ++count;
    EXPECT_EQ(count, kBlocks + kMany);
    list = nullptr;
}

// Of a kind that tells of its dead blocks what was cached is freed first, so two passes go over its superblocks.
TEST_F(Collection, ASuperblockRestsWhenNobodyTookABlockOfItSinceTheLastOne) {
    static Kind *const exact = [] {
        collector.lock();
        Kind *const kind = collector.make_kind({.zeroed = false});
        collector.tell_dead(kind->number);
        collector.unlock();
        return kind;
    }();
    const auto rests = [](const Kind &kind, const void *p) {
        const Instance &instance = kind.instance;
        return instance.superblocks().head(instance.region().unit_of(p))->rested;
    };
    for (Kind *const kind : {exact, kinds_.atomic}) {
        collect();
        void *volatile block = collector.allocate(*kind, 100);
        collect();
        ASSERT_TRUE(is_used(hidden(block)));
        EXPECT_FALSE(rests(*kind, block)) << "a block was taken since the one before";
        collect();
        EXPECT_TRUE(rests(*kind, block));
    }
}

TEST_F(Collection, AListStaysByItsHead) {
    void **head = nullptr;
    for (std::size_t i = 0; i < kMany; ++i) {
        auto **const node = static_cast<void **>(make(24 + i % 300));
        node[0] = head;
        node[1] = reinterpret_cast<void *>(i);
        head = node;
    }
    collect();
    collect();
    std::size_t at = kMany;
    for (void **node = head; node != nullptr; node = static_cast<void **>(node[0]))
        ASSERT_EQ(reinterpret_cast<std::size_t>(node[1]), --at);
    EXPECT_EQ(at, 0U);
}

TEST_F(Collection, PointerFreeBlocksHoldNothing) {
    auto **const holder = static_cast<void **>(collector.allocate(*kinds_.atomic, kMany * sizeof(void *)));
    const auto all = make_hidden(kMany, [&](std::size_t i) { return holder[i] = make(40); });
    collect();
    EXPECT_TRUE(is_used(hidden(holder)));
    EXPECT_LE(used_of(all), kMany / 100);
    EXPECT_NE(holder[0], nullptr);
}

TEST_F(Collection, UncollectableBlocksStayAndHoldUntilTheyAreFreed) {
    const std::uintptr_t holder = hidden(collector.allocate(*kinds_.uncollectable, kMany * sizeof(void *)));
    const auto all =
        make_hidden(kMany, [&](std::size_t i) { return static_cast<void **>(shown(holder))[i] = make(40); });
    collect();
    EXPECT_EQ(used_of(all), kMany);
    collector.free(*kinds_.uncollectable, shown(holder));
    collect();
    EXPECT_LE(used_of(all), kMany / 100);
    EXPECT_FALSE(is_used(holder));
}

TEST_F(Collection, FreedUncollectableBlocksInMagazinesHoldNothing) {
    const auto holders = make_hidden(64, [&](std::size_t) { return collector.allocate(*kinds_.uncollectable, 64); });
    const auto all =
        make_hidden(64, [&](std::size_t i) { return *static_cast<void **>(shown(holders[i])) = make(40); });
    for (const std::uintptr_t holder : holders) collector.free(*kinds_.uncollectable, shown(holder));
    collect();
    EXPECT_LE(used_of(all), 1U);
}

// What was freed without a look lies in a magazine as it is.
TEST_F(Collection, AnAddressInsideAnUncollectableBlockThatWasFreedDoesNotFreeTheBlock) {
    platform::PerCpuCounter counter;
    counter.start(platform::cpu_bound());
    char *const block = static_cast<char *>(collector.allocate(*kinds_.uncollectable, 64));
    if (!collector.free_quickly(block + kFineStep, counter.words())) GTEST_SKIP() << "there are no sequences";
    collect();
    EXPECT_TRUE(is_used(hidden(block)));
}

// Nothing is scanned behind the pages that were asked for, and whatever points there leads to the block.
TEST_F(Collection, ALargeBlockTakesWholePages) {
    const std::size_t page = platform::page_size();
    for (const std::size_t bytes : {kUnitBytes, kUnitBytes - page, kClassLimit + page, 3 * kUnitBytes}) {
        char *const block = static_cast<char *>(collector.allocate(*kinds_.normal, bytes + 1, 1));
        const BlockAt at = collector.block_at(block + bytes);
        EXPECT_EQ(at.begin, block);
        EXPECT_EQ(at.bytes, bytes);
        EXPECT_EQ(at.usable(), bytes + 1);
        EXPECT_EQ(block[bytes], 0);
    }
}

TEST_F(Collection, InteriorPointersHold) {
    char *inner = static_cast<char *>(make(5000)) + 4321;
    const std::uintptr_t block = hidden(inner - 4321);
    collect();
    EXPECT_TRUE(is_used(block));
    EXPECT_EQ(*inner, 0);
}

TEST_F(Collection, LargeBlocksComeZeroedStayAndGo) {
    constexpr std::size_t kLarge = 3 * kMiB;
    auto **kept = static_cast<void **>(make(kLarge));
    auto **const inner = static_cast<void **>(make(200 * kKiB));
    kept[kLarge / sizeof(void *) - 1] = inner;
    inner[1] = make(48);
    const std::uintptr_t leaf = hidden(inner[1]);
    const auto dead = make_hidden(20, [&](std::size_t) { return make(kLarge); });
    collect();
    EXPECT_TRUE(is_used(leaf));
    EXPECT_LE(used_of(dead), 1U);
    auto *const again = static_cast<char *>(make(kLarge));
    EXPECT_TRUE(std::all_of(again, again + kLarge, [](char c) { return c == 0; }));
    EXPECT_EQ(kept[kLarge / sizeof(void *) - 1], inner);
}

TEST_F(Collection, WhatIsAllocatedAgainIsZeroed) {
    for (unsigned turn = 0; turn < 3; ++turn) {
        for (std::size_t i = 0; i < kMany; ++i) {
            const std::size_t bytes = 16 + i % 3000;
            auto *const block = static_cast<unsigned char *>(make(bytes));
            ASSERT_TRUE(std::all_of(block, block + bytes, [](unsigned char c) { return c == 0; }));
            std::memset(block, 0xa5, bytes);
        }
        collect();
    }
}

TEST_F(Collection, MemoryGoesBackWhenWhatWasLiveShrinks) {
    {
        std::vector<std::uintptr_t> dead = make_hidden(200000, [&](std::size_t) { return make(100); });
        EXPECT_GT(dead.size(), 0U);
    }
    const std::size_t before = collector.present_bytes();
    collect();
    collect();
    EXPECT_LT(collector.present_bytes(), before / 3 + 8 * kMiB);
}

TEST_F(Collection, ItHappensByItself) {
    collector.pace().automatic = true;
    const std::uint64_t number = collector.last().number;
    for (std::size_t i = 0; i < 1000000; ++i) make(64);
    EXPECT_GT(collector.last().number, number);
    EXPECT_LT(collector.present_bytes(), 64 * kMiB);
}

TEST_F(Collection, WhatAnotherThreadHoldsInARegisterOrOnItsStackStays) {
    std::atomic<std::uintptr_t> block{0};
    std::atomic<bool> over{false};
    std::thread other([&] {
        void *volatile held = make(333);
        block = hidden(held);
        while (!over) {
        }
        EXPECT_TRUE(is_used(hidden(held)));
    });
    while (block == 0) std::this_thread::yield();
    for (unsigned i = 0; i < 20; ++i) collect();
    EXPECT_TRUE(is_used(block));
    over = true;
    other.join();
}

TEST_F(Collection, AThreadThatBlocksTheSignalAndSleepsIsWaitedForByNobodyAndKeepsWhatItHolds) {
    std::atomic<std::uintptr_t> block{0};
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    std::thread other([&] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        void *volatile held = make(333);
        block = hidden(held);
        char byte = 0;
        EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
        EXPECT_TRUE(is_used(hidden(held)));
    });
    while (block == 0) std::this_thread::yield();
    for (unsigned i = 0; i < 3; ++i) collect();
    EXPECT_TRUE(is_used(block));
    EXPECT_EQ(write(pipe_ends[1], "x", 1), 1);
    other.join();
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST_F(Collection, MarkNumbersBeginAnew) {
    auto **const head = static_cast<void **>(make(32));
    head[0] = make(64);
    for (unsigned i = 0; i < 600; ++i) collect();
    const auto dead = make_hidden(100, [&](std::size_t) { return make(80); });
    collect();
    EXPECT_LE(used_of(dead), 2U);
    EXPECT_TRUE(is_used(hidden(head[0])));
}

TEST_F(Collection, ABitmapSaysWhichWordsArePointers) {
    constexpr std::uintptr_t kSecondWord = std::uintptr_t{1} << 62 | 1;
    collector.lock();
    Kind *const typed = collector.make_kind({.descriptor = Descriptor(kSecondWord)});
    collector.unlock();
    auto **const block = static_cast<void **>(collector.allocate(*typed, 32));
    const auto held = make_hidden(2, [&](std::size_t i) { return block[i] = make(48); });
    collect();
    EXPECT_FALSE(is_used(held[0]));
    EXPECT_TRUE(is_used(held[1]));
}

Task *push_third(std::uintptr_t *block, Task *top, Task *, std::uintptr_t environment) {
    Marker::current()->consider(block[environment]);
    return top;
}

TEST_F(Collection, AProcedureSaysWhatABlockHolds) {
    constexpr std::size_t kNumber = 5;
    constexpr std::uintptr_t kThird = 2;
    constexpr std::uintptr_t kForm = 2;
    collector.lock();
    collector.procedures()[kNumber] = push_third;
    Kind *const typed = collector.make_kind(
        {.descriptor = Descriptor(kThird << (Descriptor::kProcedureBits + 2) | kNumber << 2 | kForm)});
    collector.unlock();
    auto **const block = static_cast<void **>(collector.allocate(*typed, 32));
    const auto held = make_hidden(3, [&](std::size_t i) { return block[i] = make(48); });
    collect();
    EXPECT_FALSE(is_used(held[0]));
    EXPECT_FALSE(is_used(held[1]));
    EXPECT_TRUE(is_used(held[2]));
}

// The oracle knows every block by its complement; what it finds reachable must be there, and as it was.
TEST_F(Collection, AGraphKeepsWhatAShadowOfItReaches) {
    struct Node {
        std::uintptr_t address;
        std::size_t words;
        std::vector<std::size_t> links;  // by slot: the node, or none
    };
    constexpr std::size_t kNone = SIZE_MAX;
    std::mt19937_64 random(42);
    std::vector<Node> nodes;
    constexpr std::size_t kRoots = 50;
    auto **const roots = static_cast<void **>(collector.allocate(*kinds_.uncollectable, kRoots * sizeof(void *)));
    std::vector<std::size_t> root_of(kRoots, kNone);
    std::size_t dead = 0;
    std::size_t kept_dead = 0;
    const auto grow = [&] {
        for (unsigned i = 0; i < 400; ++i) {
            const std::size_t words = 2 + random() % (random() % 50 == 0 ? 9000 : 40);
            auto **const block = static_cast<void **>(make(words * sizeof(void *)));
            nodes.push_back({hidden(block), words, std::vector<std::size_t>(words - 1, kNone)});
            const std::size_t self = nodes.size() - 1;
            block[words - 1] = reinterpret_cast<void *>(self * 2 + 1);
            for (unsigned link = 0; link < 3; ++link) {
                const std::size_t other = random() % nodes.size();
                if (!is_used(nodes[other].address)) continue;
                const std::size_t slot = random() % (words - 1);
                block[slot] = shown(nodes[other].address);
                nodes[self].links[slot] = other;
            }
            if (random() % 4 == 0) {
                const std::size_t root = random() % kRoots;
                roots[root] = block;
                root_of[root] = self;
            }
        }
    };
    const auto check = [&](unsigned turn) {
        std::vector<bool> reached(nodes.size());
        std::vector<std::size_t> work;
        for (const std::size_t root : root_of)
            if (root != kNone) work.push_back(root);
        while (!work.empty()) {
            const std::size_t n = work.back();
            work.pop_back();
            if (reached[n]) continue;
            reached[n] = true;
            for (const std::size_t link : nodes[n].links)
                if (link != kNone) work.push_back(link);
        }
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            if (reached[n]) {
                ASSERT_TRUE(is_used(nodes[n].address)) << "node " << n << " in turn " << turn;
                auto **const block = static_cast<void **>(shown(nodes[n].address));
                ASSERT_EQ(reinterpret_cast<std::size_t>(block[nodes[n].words - 1]), n * 2 + 1);
                for (std::size_t slot = 0; slot < nodes[n].links.size(); ++slot) {
                    const std::size_t link = nodes[n].links[slot];
                    ASSERT_EQ(block[slot], link == kNone ? nullptr : shown(nodes[link].address));
                }
            } else if (nodes[n].address != 0) {
                ++dead;
                kept_dead += is_used(nodes[n].address);
                nodes[n].address = 0;  // it may be another's from now on, and may not be linked to again
            }
        }
    };
    for (unsigned turn = 0; turn < 30; ++turn) {
        apart(grow);
        collect();
        apart([&] { check(turn); });
    }
    EXPECT_GT(dead, 5000U);
    EXPECT_LE(kept_dead, dead / 200);
    collector.free(*kinds_.uncollectable, roots);
}

TEST_F(Collection, ThreadsAllocateWhileOneCollects) {
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937_64 random(t);
            while (!over) {
                void **head = nullptr;
                for (std::size_t i = 0; i < 200; ++i) {
                    const std::size_t words = 3 + random() % 60;
                    auto **const node = static_cast<void **>(make(words * sizeof(void *)));
                    ASSERT_TRUE(std::all_of(node, node + words, [](void *p) { return p == nullptr; }));
                    node[0] = head;
                    node[1] = node;
                    node[words - 1] = reinterpret_cast<void *>(i * 2 + 1);
                    head = node;
                    if (random() % 8 == 0) collector.free(*kinds_.normal, make(words * sizeof(void *)));
                }
                for (void **node = head; node != nullptr; node = static_cast<void **>(node[0]))
                    ASSERT_EQ(node[1], node);
            }
        });
    }
    for (unsigned i = 0; i < 100; ++i) collect();
    over = true;
    for (std::thread &thread : threads) thread.join();
}

}  // namespace gr::collector_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/lfmalloc/online_superblocks.hpp and global_superblocks.hpp: malloc and free of LFMalloc, by
//    each way of keeping heaps apart.
// Invariant: more threads than CPUs; a block in use bears its own mark, so one that is given twice is seen.
// Must not know: the words of the sequences.
#include "parts/lfmalloc/online_superblocks.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/rseq.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "parts/composed/heaps_and_large.hpp"
#include "parts/lfmalloc/restartable_heaps.hpp"
#include "parts/lfmalloc/transactional_heaps.hpp"

namespace gr::lab::online_superblocks_test {

constexpr std::size_t kMostEmpty = 2;
constexpr std::size_t kSize = 8192;

using Global = GlobalSuperblocks<4, RoomToGoOnline::one_block, kMostEmpty>;

class GlobalHeap : public testing::Test {
  protected:
    static std::vector<void *> take_all(Superblock *s) {
        std::vector<void *> blocks;
        while (void *const block = s->local.pop()) blocks.push_back(block);
        return blocks;
    }
    Global global_;
};

TEST_F(GlobalHeap, WhatHasRoomIsTakenAgainWithWhatWasFreedRemotely) {
    Superblock *const s = global_.take(1, kSize);
    std::vector<void *> blocks = take_all(s);
    EXPECT_EQ(blocks.size(), s->blocks);
    global_.put(s);
    EXPECT_EQ(s->state, Superblock::State::full);
    EXPECT_NE(global_.take(1, kSize), s) << "it is full";
    global_.put_block(s, blocks[2]);
    EXPECT_EQ(s->state, Superblock::State::roomy);
    EXPECT_EQ(global_.take(1, kSize), s);
    EXPECT_EQ(s->state, Superblock::State::online);
    EXPECT_EQ(s->local.pop(), blocks[2]);
    EXPECT_EQ(s->local.pop(), nullptr);
}

TEST_F(GlobalHeap, WhereAQuarterIsAskedForWhatHasLessRoomIsNotTaken) {
    constexpr std::size_t kSmall = 64 * kAlignment;
    GlobalSuperblocks<4, RoomToGoOnline::a_quarter, kMostEmpty> global;
    Superblock *const s = global.take(1, kSmall);
    const std::vector<void *> blocks = take_all(s);
    global.put(s);
    std::size_t freed = 0;
    while ((freed + 1) * 4 < s->blocks) global.put_block(s, blocks[freed++]);
    EXPECT_EQ(s->state, Superblock::State::full);
    EXPECT_NE(global.take(1, kSmall), s);
    global.put_block(s, blocks[freed++]);
    EXPECT_EQ(s->state, Superblock::State::roomy);
    EXPECT_EQ(global.take(1, kSmall), s);
    EXPECT_EQ(take_all(s).size(), freed);
}

TEST_F(GlobalHeap, WhatIsFreedRemotelyWhileOnlineIsSeenWhenItGoesOffline) {
    Superblock *const s = global_.take(1, kSize);
    const std::vector<void *> blocks = take_all(s);
    global_.put_block(s, blocks[0]);
    EXPECT_EQ(s->local.pop(), nullptr) << "the two lists are disjoint";
    global_.put(s);
    EXPECT_EQ(s->state, Superblock::State::roomy);
}

TEST_F(GlobalHeap, WhollyFreeOnesAreForAnyClass) {
    Superblock *const s = global_.take(1, kSize);
    void *const block = s->local.pop();
    global_.put(s);
    global_.put_block(s, block);
    EXPECT_EQ(s->state, Superblock::State::empty);
    EXPECT_EQ(global_.take(3, 64), s);
    EXPECT_EQ(s->bin, 3U);
    EXPECT_GT(s->blocks, 900U);
}

// Lines 13 to 17.
TEST_F(GlobalHeap, BeyondTheLimitTheyAreGivenBackAndTheirAddressesUsedAgain) {
    std::vector<Superblock *> all;
    for (std::size_t i = 0; i <= kMostEmpty; ++i) all.push_back(global_.take(1, kSize));
    char *touched = nullptr;
    for (Superblock *const s : all) {
        void *const block = s->local.pop();
        touched = static_cast<char *>(block) + kSize - 1;
        *touched = 1;
        global_.put(s);
        for (const Superblock *const other : all) EXPECT_NE(other->state, Superblock::State::destroyed);
        global_.put_block(s, block);
    }
    const auto are = [&all](Superblock::State state) {
        const auto has = [state](const Superblock *s) { return s->state == state; };
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), has));
    };
    EXPECT_EQ(are(Superblock::State::destroyed), 1U);
    EXPECT_EQ(are(Superblock::State::empty), kMostEmpty);
    Superblock *const destroyed = all.back();
    EXPECT_EQ(destroyed->state, Superblock::State::destroyed);
    const auto page = platform::page_size();
    ASSERT_GE(touched, reinterpret_cast<char *>(destroyed) + page) << "the header's page stays";
    void *const place = reinterpret_cast<void *>(align_down(reinterpret_cast<std::uintptr_t>(touched), page));
    unsigned char resident = 1;
    ASSERT_EQ(mincore(place, page, &resident), 0);
    EXPECT_EQ(resident & 1, 0);
    for (std::size_t i = 0; i < kMostEmpty; ++i) EXPECT_NE(global_.take(2, 64), destroyed);
    EXPECT_EQ(global_.take(2, 64), destroyed);
}

TEST_F(GlobalHeap, ABlockOfASuperblockWithNoneInUseEnds) {
    Superblock *const s = global_.take(1, kSize);
    void *const block = s->local.pop();
    global_.put(s);
    global_.put_block(s, block);
    EXPECT_DEATH(global_.put_block(s, block), "not a block in use");
}

// Of the process, as the sequences' state is.
template <class LocalHeaps>
inline constinit HeapsAndLarge<OnlineSuperblocks<LocalHeaps, RoomToGoOnline::one_block, kMostEmpty>> the_allocator{};

template <class LocalHeaps>
class Online : public testing::Test {
  protected:
    static inline auto &allocator_ = the_allocator<LocalHeaps>;
};
using Ways =
    testing::Types<RestartableHeaps<ByCpu>, TransactionalHeaps<ByCpu>, LockedHeaps<ByCpu>, LockedHeaps<ByThreadHash>>;
TYPED_TEST_SUITE(Online, Ways);

struct Marked {
    std::uint64_t link;
    std::atomic<std::uint64_t> mark;
};

// The first of each way: what another size left in a superblock is no mark.
TYPED_TEST(Online, BlocksAreGivenOnceWhoeverFreesThem) {
    auto &allocator = this->allocator_;
    constexpr unsigned kThreads = 6;
    constexpr unsigned kPlaces = 512;
    static std::atomic<Marked *> places[kPlaces];
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            const auto free = [&](Marked *block) {
                if (block->mark.exchange(0) != reinterpret_cast<std::uintptr_t>(block)) ++wrong;
                allocator.free(block);
            };
            Marked *kept = nullptr;
            for (unsigned i = 0; i < 60000; ++i) {
                auto *const block = static_cast<Marked *>(allocator.allocate(200));
                // What was never given, or was freed, has none.
                if (block->mark.exchange(reinterpret_cast<std::uintptr_t>(block)) != 0) ++wrong;
                Marked *const other =
                    random() % 2 == 0 ? std::exchange(kept, block) : places[random() % kPlaces].exchange(block);
                if (other != nullptr) free(other);
            }
            if (kept != nullptr) free(kept);
        });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0U);
    std::set<Marked *> left;
    for (auto &place : places) {
        if (Marked *const block = place.exchange(nullptr)) {
            EXPECT_TRUE(left.insert(block).second);
        }
    }
    for (Marked *const block : left) {
        EXPECT_EQ(block->mark.exchange(0), reinterpret_cast<std::uintptr_t>(block));
        allocator.free(block);
    }
}

TYPED_TEST(Online, AThreadsMemoryIsReusedByOthers) {
    auto &allocator = this->allocator_;
    std::set<std::uintptr_t> superblocks;
    constexpr unsigned kRounds = 30;
    constexpr unsigned kBlocks = 2000;
    for (unsigned round = 0; round < kRounds; ++round) {
        std::vector<void *> blocks(kBlocks);
        std::thread([&] {
            for (void *&block : blocks) block = allocator.allocate(1000);
        }).join();
        for (void *const block : blocks) superblocks.insert(reinterpret_cast<std::uintptr_t>(block) / kSuperblockBytes);
        std::thread([&] {
            for (void *const block : blocks) allocator.free(block);
        }).join();
    }
    EXPECT_LT(superblocks.size() * kSuperblockBytes, std::size_t{4} * kBlocks * 1000);
}

TYPED_TEST(Online, TheSameBlockTwiceEnds) {
    void *const block = this->allocator_.allocate(100);
    this->allocator_.free(block);
    EXPECT_DEATH(this->allocator_.free(block), "not a block in use");
}

TYPED_TEST(Online, AlignedBlocksAreAlignedAndFreed) {
    for (std::size_t alignment = 32; alignment <= 4 * kMiB; alignment *= 2) {
        void *const block = this->allocator_.allocate_aligned(100, alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
        EXPECT_GE(this->allocator_.usable_size(block), 100U);
        this->allocator_.free(block);
    }
}

// Lines 15 to 31 without memory: what others freed lies in a superblock that is online and full.
bool is_served_by_what_others_freed() {
    constexpr std::size_t kBytes = 1000;
    auto &allocator = the_allocator<LockedHeaps<ByThreadHash>>;
    std::vector<void *> blocks;
    blocks.reserve(10'000);
    std::atomic<void *> handed{nullptr};
    std::atomic<bool> is_freed{false};
    std::thread other([&] {
        handed.wait(nullptr);
        allocator.free(handed);
        is_freed = true;
        is_freed.notify_one();
    });
    const rlimit no_more{1, 1};
    setrlimit(RLIMIT_AS, &no_more);
    while (void *const block = allocator.allocate(kBytes)) blocks.push_back(block);
    if (blocks.empty()) return false;
    handed = blocks.back();
    handed.notify_one();
    is_freed.wait(false);
    const bool is_served = allocator.allocate(kBytes) == blocks.back();
    other.join();
    return is_served;
}

TEST(OnlineWithoutMemory, WhatOthersFreedIsFound) {
    if (platform::usable_cpus() == 1) GTEST_SKIP() << "both threads have the same heap";
    if (dlsym(RTLD_DEFAULT, "__asan_init") != nullptr) GTEST_SKIP() << "the sanitizer needs memory itself";
    the_allocator<LockedHeaps<ByThreadHash>>.free(the_allocator<LockedHeaps<ByThreadHash>>.allocate(1));
    EXPECT_EXIT(_exit(is_served_by_what_others_freed() ? 0 : 1), testing::ExitedWithCode(0), "");
}

// Refused by each sequence, it is served by the global heap.
TEST(OnlineWithoutRseq, AThreadIsServed) {
    auto &allocator = the_allocator<RestartableHeaps<ByCpu>>;
    void *const here = allocator.allocate(64);
    bool unregistered = false;
    std::thread([&] {
        constexpr unsigned kRegisteredBytes = 32;
        char *const area =
            reinterpret_cast<char *>(platform::thread_pointer()) + platform::gr_sequence_state.rseq_offset;
        if (!ByCpu::is_kept) return;
        unregistered = syscall(SYS_rseq, area, kRegisteredBytes, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
        if (!unregistered) return;
        std::set<void *> blocks;
        for (int i = 0; i < 5000; ++i) EXPECT_TRUE(blocks.insert(allocator.allocate(64)).second);
        EXPECT_EQ(blocks.count(here), 0U);
        for (void *const block : blocks) allocator.free(block);
        allocator.free(here);
    }).join();
    if (!unregistered) GTEST_SKIP() << "nothing registered that could be unregistered";
}

}  // namespace gr::lab::online_superblocks_test

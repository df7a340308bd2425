// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sequences of a CPU's heap, and its transactions, against their twins in C++: the same random histories,
//    signals falling in between.
// Invariant: after each operation both superblocks have the same word and the same links, and results are the same
//    places.
// Must not know: where superblocks come from.
#include "parts/lfmalloc/restartable_heaps.hpp"

#include <gtest/gtest.h>
#include <linux/rseq.h>
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <random>
#include <thread>
#include <vector>

#include "lab/interruptions.hpp"
#include "parts/lfmalloc/transactional_heaps.hpp"
#include "parts/memory/wilderness.hpp"

namespace gr::lab::restartable_heaps_test {

constexpr unsigned kBin = 3;
constexpr std::size_t kSize = 4080;

template <LocalHeapsLike Heaps>
class Restartable : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(heaps_.start());
        ASSERT_TRUE(twins_.start());
        if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here: the twins serve";
        cpu_ = heaps_.heap_of_caller();
        ASSERT_EQ(cpu_, sched_getcpu());
    }

    LocalList *make(std::size_t size = kSize) {
        auto *const s = new (wilderness_.extend(kSuperblockBytes, kSuperblockBytes)) Superblock();
        s->format_superblock(kBin, size);
        return &s->local;
    }
    void put_online(LocalList *list, LocalList *twin) {
        while (!heaps_.install(cpu_, kBin, heaps_.online(cpu_, kBin), list)) {
        }
        ASSERT_TRUE(twins_.install(cpu_, kBin, twins_.online(cpu_, kBin), twin));
    }
    // Null may also mean that it was interrupted.
    void *pop(const LocalList *list) {
        void *block = nullptr;
        while (block == nullptr && list->has_room()) block = heaps_.pop(kBin);
        return block;
    }
    static std::vector<std::uint64_t> links(LocalList *list) {
        std::vector<std::uint64_t> links{list->word.load()};
        for (std::uint16_t place = list->state().first; place != 0;) {
            links.push_back(place);
            place = *reinterpret_cast<std::uint16_t *>(list->begin() + place * kAlignment);
        }
        return links;
    }

    const OnOneCpu on_one_cpu_;
    Heaps heaps_;
    LockedHeaps<ByCpu> twins_;
    Wilderness wilderness_;
    int cpu_ = 0;
};

struct Names {
    template <class Heaps>
    static std::string GetName(int) {
        return std::same_as<Heaps, RestartableHeaps<ByCpu>> ? "BySequences" : "ByTransactions";
    }
};
using Kinds = testing::Types<RestartableHeaps<ByCpu>, TransactionalHeaps<ByCpu>>;
TYPED_TEST_SUITE(Restartable, Kinds, Names);

TYPED_TEST(Restartable, WithNothingOnlineRefuse) {
    LocalList *const list = this->make();
    EXPECT_EQ(this->heaps_.pop(kBin), nullptr);
    void *const block = list->pop();
    EXPECT_FALSE(this->heaps_.push(list, block));
    EXPECT_EQ(list->state().count, 0U);
}

TYPED_TEST(Restartable, InstallReplacesWhatItExpectsOnTheCpuItExpects) {
    LocalList *const one = this->make();
    LocalList *const other = this->make();
    this->put_online(one, nullptr);
    EXPECT_EQ(this->heaps_.online(this->cpu_, kBin), one);
    EXPECT_FALSE(this->heaps_.install(this->cpu_, kBin, other, nullptr));
    EXPECT_FALSE(this->heaps_.install(this->cpu_ + 1, kBin, one, other));
    EXPECT_FALSE(this->heaps_.install(this->cpu_ + 1, kBin, nullptr, other));
    EXPECT_EQ(this->heaps_.online(this->cpu_, kBin), one);
    void *const block = this->pop(one);
    this->put_online(other, nullptr);
    EXPECT_FALSE(this->heaps_.push(one, block)) << "it is offline";
    EXPECT_NE(this->pop(other), nullptr);
    EXPECT_EQ(one->state().fresh, 1U);
}

TYPED_TEST(Restartable, SequencesDoWhatTheirTwinsDo) {
    for (const std::size_t size : {std::size_t{16}, kSize, std::size_t{32640}}) {
        LocalList *const list = this->make(size);
        LocalList *const twin = this->make(size);
        this->put_online(list, twin);
        const Interruptions interruptions;
        std::mt19937 random(5);
        std::vector<char *> held;
        // As long as some were interrupted, and long enough to see all of it.
        for (int i = 0; i < 200000; ++i) {
            if (random() % 2 == 0) {
                auto *const block = static_cast<char *>(this->pop(list));
                auto *const same = static_cast<char *>(this->twins_.pop(kBin));
                ASSERT_EQ(block == nullptr, same == nullptr);
                if (block == nullptr) continue;
                ASSERT_EQ(block - list->begin(), same - twin->begin());
                held.push_back(block);
            } else if (!held.empty()) {
                std::swap(held[random() % held.size()], held.back());
                char *const block = held.back();
                held.pop_back();
                while (!this->heaps_.push(list, block)) {
                }
                ASSERT_TRUE(this->twins_.push(twin, twin->begin() + (block - list->begin())));
            }
            ASSERT_EQ(list->word.load(), twin->word.load());
            if (i % 1024 == 0) {
                ASSERT_EQ(this->links(list), this->links(twin));
            }
        }
        ASSERT_EQ(this->links(list), this->links(twin));
        EXPECT_EQ(list->state().fresh - list->state().count, held.size());
    }
}

// A thread of a program that manages rseq by itself: its field holds a negative CPU.
TYPED_TEST(Restartable, AThreadWithoutRseqIsRefused) {
    LocalList *const list = this->make();
    this->put_online(list, nullptr);
    void *const block = this->pop(list);
    bool unregistered = false;
    bool refused = false;
    std::thread([&] {
        constexpr unsigned kRegisteredBytes = 32;
        char *const area =
            reinterpret_cast<char *>(platform::thread_pointer()) + platform::gr_sequence_state.rseq_offset;
        unregistered = syscall(SYS_rseq, area, kRegisteredBytes, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
        if (!unregistered) return;
        refused = this->heaps_.pop(kBin) == nullptr && !this->heaps_.push(list, block) &&
                  !this->heaps_.install(this->cpu_, kBin, list, nullptr) && this->heaps_.heap_of_caller() == -1;
    }).join();
    if (!unregistered) GTEST_SKIP() << "libc registered more than the original 32 bytes; cannot unregister them";
    EXPECT_TRUE(refused);
    EXPECT_EQ(list->state().fresh, 1U);
    EXPECT_EQ(list->state().count, 0U);
}

}  // namespace gr::lab::restartable_heaps_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the transactional layer: which transaction is annulled and which goes on, that the next one does what is announced, and
//    several words change at once.
// Invariant: the threads of a test share one CPU, except one that leaves it.
// Must not know: superblocks.
#include "parts/lfmalloc/transactions.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lab/interruptions.hpp"
#include "parts/composed/which_heap.hpp"

namespace gr::lab::transactions_test {

// What the kernel keeps of a thread's last sequence; 0: the thread was interrupted since, outside of a sequence.
std::uint64_t descriptor() {
    constexpr std::int64_t kRseqCsOffset = 8;
    const auto *const area =
        reinterpret_cast<const char *>(platform::thread_pointer()) + platform::gr_sequence_state.rseq_offset;
    return *reinterpret_cast<const volatile std::uint64_t *>(area + kRseqCsOffset);
}

class Transactions : public testing::Test {
  protected:
    void SetUp() override {
        const unsigned cpus = ByCpu::count();
        if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
        ASSERT_TRUE(slots_.start(cpus));
        cpu_ = sched_getcpu();
    }
    void TearDown() override {
        if (ByCpu::is_kept) {
            EXPECT_TRUE(slots_.of(cpu_).is_valid());
        }
    }
    const OnOneCpu on_one_cpu_;
    TransactionSlots slots_;
    std::atomic<std::uint64_t> first_{5};
    std::atomic<std::uint64_t> second_{7};
    int cpu_ = 0;
};

TEST_F(Transactions, LoadAndStore) {
    Transaction transaction(slots_);
    EXPECT_EQ(transaction.cpu(), cpu_);
    EXPECT_EQ(transaction.load(first_), 5U);
    EXPECT_TRUE(transaction.store(first_, std::uint64_t{6}));
    EXPECT_EQ(first_.load(), 6U);
    EXPECT_EQ(transaction.load(first_), 6U) << "a conditional store does not end it";
}

// 3.1.2: "if a thread is preempted, and other unrelated threads run, ... there is no risk of interference". rseq tells
// a thread only that it was interrupted. That nobody interfered, the slot tells.
TEST_F(Transactions, WhoIsInterruptedGoesOnWhereNobodyCameToTheSlot) {
    Transaction transaction(slots_);
    ASSERT_EQ(transaction.load(first_), 5U);
    ASSERT_NE(descriptor(), 0U);
    std::thread([] {}).join();  // runs on this CPU
    EXPECT_EQ(descriptor(), 0U) << "the kernel tells that the thread was interrupted";
    EXPECT_TRUE(transaction.store(first_, std::uint64_t{6}));
    EXPECT_EQ(first_.load(), 6U);
}

TEST_F(Transactions, WhoComesNextAnnulsWhoWasInterrupted) {
    Transaction transaction(slots_);
    ASSERT_EQ(transaction.load(first_), 5U);
    std::thread([this] { Transaction next(slots_); }).join();
    EXPECT_FALSE(transaction.store(first_, std::uint64_t{6}));
    EXPECT_EQ(first_.load(), 5U);
    EXPECT_EQ(transaction.load(second_), 0U) << "it stays annulled";
    EXPECT_FALSE(transaction.store_all({{&first_, 1}, {&second_, 2}}));
    EXPECT_EQ(slots_.of(cpu_).pending, 0U);
}

TEST_F(Transactions, AnEarlierStoreOfWhoIsAnnulledStays) {
    Transaction transaction(slots_);
    ASSERT_TRUE(transaction.store(first_, std::uint64_t{6}));
    std::thread([this] { Transaction next(slots_); }).join();
    EXPECT_FALSE(transaction.store(second_, std::uint64_t{8}));
    EXPECT_EQ(first_.load(), 6U) << "nobody undoes it: section 3.1.4 alone makes one store atomic, not two";
    EXPECT_EQ(second_.load(), 7U);
}

TEST_F(Transactions, WhoLeftTheCpuIsAnnulled) {
    const int another = on_one_cpu_.another();
    if (another < 0) GTEST_SKIP() << "there is one CPU";
    Transaction transaction(slots_);
    ASSERT_TRUE(OnOneCpu::move_to(another));
    EXPECT_FALSE(transaction.store(first_, std::uint64_t{6}));
    EXPECT_EQ(first_.load(), 5U);
    EXPECT_EQ(slots_.of(another).turn, 0U) << "the slot of the other CPU is another";
}

TEST_F(Transactions, WhatIsAnnouncedIsDoneByWhoeverComesNext) {
    const GrLabBegun begun = gr_lab_transaction_begin(slots_.place());
    ASSERT_NE(begun.slot, nullptr);
    const Store stores[] = {{&first_, 6}, {&second_, 8}};
    const GrLabStep announced = gr_lab_transaction_announce(begun.slot, begun.turn, stores, 2);
    ASSERT_EQ(announced.outcome, Outcome::done);
    EXPECT_EQ(slots_.of(cpu_).pending, 2U);
    EXPECT_EQ(first_.load(), 5U) << "announced, not done";
    std::thread([this] {
        Transaction next(slots_);
        EXPECT_EQ(next.load(first_), 6U);
        EXPECT_EQ(next.load(second_), 8U);
    }).join();
    EXPECT_EQ(slots_.of(cpu_).pending, 0U);
}

TEST_F(Transactions, StoresAreAllDone) {
    std::atomic<std::uint64_t> third{9};
    EXPECT_TRUE(Transaction(slots_).store_all({{&first_, 1}, {&second_, 2}, {&third, 3}}));
    EXPECT_EQ(first_.load(), 1U);
    EXPECT_EQ(second_.load(), 2U);
    EXPECT_EQ(third.load(), 3U);
}

// Threads of one CPU that take turns, and are interrupted between any two instructions.
TEST_F(Transactions, SeveralWordsChangeAtOnce) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kTimes = 100'000;
    first_ = second_ = 0;
    const Interruptions interruptions;
    std::atomic<unsigned> torn{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            for (unsigned i = 0; i < kTimes;) {
                Transaction transaction(slots_);
                const std::uint64_t first = transaction.load(first_);
                const std::uint64_t second = transaction.load(second_);
                // Differ where it was annulled in between, too; but then it changes nothing.
                if (!transaction.store_all({{&first_, first + 1}, {&second_, second + 1}})) continue;
                if (first != second) ++torn;
                ++i;
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(torn.load(), 0U);
    Transaction next(slots_);
    EXPECT_EQ(next.load(first_), std::uint64_t{kThreads} * kTimes);
    EXPECT_EQ(next.load(second_), std::uint64_t{kThreads} * kTimes);
}

}  // namespace gr::lab::transactions_test

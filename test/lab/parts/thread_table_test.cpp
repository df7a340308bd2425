// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/boehm/thread_table.hpp: each thread finds its own, whoever comes and goes; and where a
//    stack is no name of a thread.
// Invariant: a table of its own for each test.
// Must not know: what is kept in a table.
#include "parts/boehm/thread_table.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "lab/teams.hpp"

namespace gr::lab::thread_table_test {

struct Value {
    std::uintptr_t number = 0;
};

template <class Quick>
class Table : public testing::Test {
  protected:
    static void nothing(Value &) {}
    std::unique_ptr<ThreadTable<Value, Quick>> table_ = std::make_unique<ThreadTable<Value, Quick>>();
};
using Ids = testing::Types<StackPage, ThreadPointer>;
TYPED_TEST_SUITE(Table, Ids);

TYPED_TEST(Table, AThreadHasNoneUntilItAddsOneAndNoneAfterItIsRemoved) {
    auto &table = *this->table_;
    EXPECT_EQ(table.find(), nullptr);
    Value *const mine = table.add();
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(table.find(), mine);
    EXPECT_EQ(table.add(), mine);
    mine->number = 7;
    table.remove([mine](Value &left) {
        EXPECT_EQ(&left, mine);
        EXPECT_EQ(left.number, 7U);
    });
    EXPECT_EQ(table.find(), nullptr);
    EXPECT_TRUE(table.is_valid());
    EXPECT_EQ(table.add()->number, 0U);
}

TYPED_TEST(Table, WhatIsRemovedTwiceIsLeftOnce) {
    this->table_->add();
    int left = 0;
    for (int i = 0; i < 2; ++i) this->table_->remove([&left](Value &) { ++left; });
    EXPECT_EQ(left, 1);
}

// Deep down the stack is another page.
[[gnu::noinline]] void expect_deep_down(auto &table, const Value *mine) {
    volatile char pages[3 * Wilderness::kPage];
    pages[0] = 0;
    EXPECT_EQ(table.find(), mine) << static_cast<int>(pages[0]);
}

TYPED_TEST(Table, OnOneStackEachPageLeadsToTheThread) {
    auto &table = *this->table_;
    Value *const mine = table.add();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(table.find(), mine);
        expect_deep_down(table, mine);
    }
}

// Threads come, are found many times while others come and go, and leave: some chains have several of them.
TYPED_TEST(Table, ManyThreadsFindTheirOwnWhileOthersComeAndGo) {
    auto &table = *this->table_;
    constexpr unsigned kThreads = 12;
    constexpr unsigned kGenerations = 40;
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> lines;
    for (unsigned t = 0; t < kThreads; ++t)
        lines.emplace_back([&, t] {
            for (unsigned generation = 0; generation < kGenerations; ++generation)
                std::thread([&, number = t * kGenerations + generation + 1] {
                    if (table.find() != nullptr) ++wrong;  // the stack's last thread removed its own
                    Value *const mine = table.add();
                    mine->number = number;
                    for (unsigned i = 0; i < 500; ++i) {
                        Value *const found = table.find();
                        if (found != nullptr && (found != mine || found->number != number)) ++wrong;
                        if (table.add() != mine) ++wrong;
                    }
                    table.remove([&](Value &left) { wrong += left.number != number; });
                }).join();
        });
    for (std::thread &line : lines) line.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_TRUE(table.is_valid());
}

// The first page of them is enough for threads that live one after the other.
TYPED_TEST(Table, EntriesAreUsedAgain) {
    auto &table = *this->table_;
    table.add();
    const std::size_t made = table.made();
    for (std::size_t i = 0; i < 2 * made; ++i)
        std::thread([&] {
            table.add();
            table.remove(this->nothing);
        }).join();
    EXPECT_EQ(table.made(), made);
    EXPECT_TRUE(table.is_valid());
}

TYPED_TEST(Table, AForkedChildHasOnlyItsOwn) {
    auto &table = *this->table_;
    Value *const mine = table.add();
    Member other([] {});
    other.run([&] { table.add()->number = 9; });
    table.lock();
    const pid_t child = fork();
    if (child == 0) {
        table.unlock();
        bool is_right = table.find() == mine && table.is_valid();
        // glibc gives the new thread the stack of the one that is gone.
        std::thread([&] { is_right = is_right && table.find() == nullptr; }).join();
        _exit(is_right ? 0 : 1);
    }
    table.unlock();
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    other.run([&] { EXPECT_EQ(table.find()->number, 9U); });
    EXPECT_EQ(table.find(), mine);
}

// A coroutine that begins in one thread and goes on in another, while the first still lives.
template <class Quick>
class MovedStack {
  public:
    // What the second thread finds, which has added nothing. `first`: what the first one has.
    Value *found_by_second(Value **first) {
        Value *found = nullptr;
        Member one([] {});
        one.run([&] {
            *first = table_.add();
            getcontext(&coroutine_);
            coroutine_.uc_stack = {.ss_sp = stack_, .ss_flags = 0, .ss_size = sizeof(stack_)};
            coroutine_.uc_link = &resumer_;
            running = this;
            makecontext(&coroutine_, run, 0);
            swapcontext(&resumer_, &coroutine_);
            EXPECT_EQ(found_, *first);
        });
        std::thread([&] {
            swapcontext(&resumer_, &coroutine_);
            found = found_;
        }).join();
        return found;
    }

  private:
    static void run() {
        running->look();
        swapcontext(&running->coroutine_, &running->resumer_);
        running->look();
    }
    [[gnu::noinline]] void look() { found_ = table_.find(); }

    static inline MovedStack *running = nullptr;

    ThreadTable<Value, Quick> table_;
    ucontext_t coroutine_{};
    ucontext_t resumer_{};
    Value *found_ = nullptr;
    alignas(Wilderness::kPage) char stack_[64 * kKiB];
};

// Where the paper's way fails for a malloc: the second thread is given the first one's data, and both live.
TEST(MovedStackTest, AStackThatGoesToAnotherThreadBringsTheFirstOnesEntry) {
    Value *first = nullptr;
    Value *const found = std::make_unique<MovedStack<StackPage>>()->found_by_second(&first);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(found, first);
    static_assert(!StackPage::kStaysWithThread);
}

TEST(MovedStackTest, AThreadPointerStaysWithItsThread) {
    Value *first = nullptr;
    Value *const found = std::make_unique<MovedStack<ThreadPointer>>()->found_by_second(&first);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(found, nullptr);
    static_assert(ThreadPointer::kStaysWithThread);
}

}  // namespace gr::lab::thread_table_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a walk of a stack is told by the outline of the walk before it.
// Invariant: the stacks are made: one word for each call, which is both its code and what is kept at its place.
// Must not know: how frames are walked.
#include "platform/unwind/stack_outline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "platform/memory.hpp"

namespace gr::platform::stack_outline_test {

constexpr std::size_t kBytes = std::size_t{1} << 16;
constexpr std::size_t kMostCalls = kBytes / sizeof(std::uintptr_t);

class StackOutlineTest : public testing::Test {
  protected:
    void SetUp() override {
        words_ = static_cast<std::uintptr_t *>(map(kBytes, 1));
        ASSERT_NE(words_, nullptr);
    }
    void TearDown() override {
        if (words_ != nullptr) unmap(words_, kBytes);
    }

    // Stacks grow downwards: the outermost call is at the highest address.
    std::uintptr_t &at(std::size_t depth) { return words_[kMostCalls - 1 - depth]; }
    void call() { at(calls_++) = ++code_; }
    void call(std::size_t times) {
        for (std::size_t i = 0; i < times; ++i) call();
    }
    void come_back(std::size_t times) { calls_ -= times; }

    struct Told {
        std::size_t steps = 0;  // that did not end the walk
        std::size_t depth = 0;
    };
    // A walk that ends at once where nothing may be read has the calls from a stack that was.
    Told walk(std::span<const std::uintptr_t> codes) {
        StackOutline::Walk walk(&outline_);
        Told told;
        for (std::size_t depth = codes.size(); depth-- != 0; ++told.steps) {
            const auto place = reinterpret_cast<std::uintptr_t>(&at(depth));
            if (walk.pass({codes[depth], place, place})) break;
        }
        told.depth = walk.end();
        return told;
    }
    std::vector<std::uintptr_t> codes() {
        std::vector<std::uintptr_t> all;
        for (std::size_t depth = 0; depth < calls_; ++depth) all.push_back(at(depth));
        return all;
    }
    Told walk() { return walk(codes()); }

    std::vector<std::uintptr_t> outermost() const { return {outline_.outermost().begin(), outline_.outermost().end()}; }
    std::vector<std::uintptr_t> outermost_of_stack() {
        std::vector<std::uintptr_t> all;
        for (std::size_t depth = std::min(calls_, StackOutline::kOutermost); depth-- != 0;) all.push_back(at(depth));
        return all;
    }

    std::uintptr_t *words_ = nullptr;
    StackOutline outline_;

  private:
    std::size_t calls_ = 0;
    std::uintptr_t code_ = 0;
};

TEST_F(StackOutlineTest, AFirstWalkGoesThroughAllCalls) {
    call(5000);
    const Told told = walk();
    EXPECT_EQ(told.steps, 5000U);
    EXPECT_EQ(told.depth, 5000U);
    EXPECT_EQ(outermost(), outermost_of_stack());
}

TEST_F(StackOutlineTest, TheNextWalkEndsEarlyAndTellsTheSame) {
    call(5000);
    walk();
    const Told told = walk();
    EXPECT_LE(told.steps, 5000 / StackOutline::kLandmarks * 4);
    EXPECT_EQ(told.depth, 5000U);
    EXPECT_EQ(outermost(), outermost_of_stack());
}

TEST_F(StackOutlineTest, WhatIsToldIsTrueHoweverTheStackChanges) {
    std::mt19937 random(1);
    std::size_t calls = 0;
    std::size_t steps = 0;
    std::size_t all = 0;
    for (int round = 0; round < 2000; ++round) {
        const std::size_t back = random() % (round % 50 == 0 ? calls + 1 : calls / 8 + 1);
        come_back(back);
        calls -= back;
        const std::size_t more = std::min<std::size_t>(random() % 300, kMostCalls - calls);
        call(more);
        calls += more;
        const Told told = walk();
        ASSERT_EQ(told.depth, calls) << "round " << round;
        ASSERT_EQ(outermost(), outermost_of_stack()) << "round " << round;
        steps += told.steps;
        all += calls;
    }
    EXPECT_LT(steps, all / 2);
}

TEST_F(StackOutlineTest, AShortStackIsNotAnsweredFor) {
    call(StackOutline::kOutermost - 1);
    walk();
    EXPECT_EQ(walk().steps, StackOutline::kOutermost - 1);
}

TEST_F(StackOutlineTest, OtherOutermostCallsAreSeen) {
    call(5000);
    walk();
    at(3) = 123456;
    const Told told = walk();
    EXPECT_EQ(told.steps, 5000U);
    EXPECT_EQ(outermost(), outermost_of_stack());
}

TEST_F(StackOutlineTest, OtherCallsAtTheSamePlacesAreNotTakenForTheOldOnes) {
    call(5000);
    walk();
    come_back(4900);
    call(4900);
    const Told told = walk();
    EXPECT_GE(told.steps, 4900U);
    EXPECT_EQ(told.depth, 5000U);
}

TEST_F(StackOutlineTest, AStackThatIsGoneIsNotRead) {
    call(5000);
    walk();
    const std::vector<std::uintptr_t> before = codes();
    unmap(words_, kBytes);
    EXPECT_EQ(walk(before).steps, 5000U);
    words_ = nullptr;
}

TEST_F(StackOutlineTest, WhatWasForgottenIsNotTold) {
    call(5000);
    walk();
    outline_.forget();
    EXPECT_TRUE(outermost().empty());
    EXPECT_EQ(walk().steps, 5000U);
}

}  // namespace gr::platform::stack_outline_test

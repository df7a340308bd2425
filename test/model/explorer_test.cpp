// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the explorer itself, on a machine small enough to count its schedules by hand.
// Invariant: it takes every order, tells schedules apart, and finds what only one order shows.
// Must not know: the protocol of remote frees.
#include "explorer.hpp"

#include <gtest/gtest.h>

namespace gr::model {
namespace {

// One number, and a turnstile that opens when the number is right.
class Counter {
  public:
    enum class Step : std::uint8_t { load, store, add, wait_for_two };
    struct State {
        std::uint32_t number = 0;
        std::uint32_t stored = 0;  // what a store writes: the last load, plus one
    };
    static constexpr std::size_t kActors = 2;

    bool is_enabled(const State &state, const Step &step) const {
        return step != Step::wait_for_two || state.number == 2;
    }
    bool is_private(const Step &) const { return false; }
    Answer take(State &state, std::size_t, const Step &step) const {
        if (step == Step::add) ++state.number;
        if (step == Step::load) state.stored = state.number + 1;
        if (step == Step::store) state.number = state.stored;
        return 0;
    }
    bool has_delayed(const State &, std::size_t) const { return false; }
    void write_back(State &, std::size_t) const {}
    void check_always(const State &) const {}
    void check_end(const State &state) const {
        if (state.number != 2) throw Violation("an increment was lost");
    }
    std::string describe(const Step &step, Answer) const { return std::to_string(static_cast<int>(step)); }
};

Outcome explore_twice(const std::vector<Counter::Step> &steps) {
    const Act<Counter::Step> act = [steps](Port<Counter::Step> &port) {
        for (const Counter::Step step : steps) port.ask(step);
    };
    const Counter counter;
    return Explorer<Counter>(counter, {{"one", {act}}, {"two", {act}}}).explore({});
}

TEST(Explorer, FindsTheLostIncrement) {
    const Outcome outcome = explore_twice({Counter::Step::load, Counter::Step::store});
    EXPECT_EQ(outcome.violation, "an increment was lost");
    EXPECT_EQ(outcome.schedule, "one       0\ntwo       0\none       1\ntwo       1\n");
}

TEST(Explorer, TakesEveryOrder) {
    const Outcome outcome = explore_twice({Counter::Step::add, Counter::Step::wait_for_two});
    EXPECT_EQ(outcome.violation, "");
    EXPECT_EQ(outcome.schedules, 4);  // two orders of the additions, then two of the waits
    EXPECT_EQ(outcome.longest, 4u);
}

TEST(Explorer, FindsTheDeadlock) {
    const Outcome outcome = explore_twice({Counter::Step::wait_for_two, Counter::Step::add});
    EXPECT_EQ(outcome.violation, "deadlock: one waits for ever");
}

TEST(Explorer, FindsTheActWithoutEnd) {
    const Act<Counter::Step> endless = [](Port<Counter::Step> &port) {
        for (;;) port.ask(Counter::Step::load);
    };
    const Counter counter;
    EXPECT_EQ(Explorer<Counter>(counter, {{"one", {endless}}}).explore({}).violation, "an act does not end");
}

}  // namespace
}  // namespace gr::model

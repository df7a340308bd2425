// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the production protocol keeps its promise in every order of steps; without any one of its rules it does not.
// Invariant: every scenario is explored completely, or up to the first violation, which is the one that is wanted.
// Must not know: how orders are explored.
#include "heap/remote_protocol.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "giving.hpp"
#include "mutations.hpp"
#include "scenarios.hpp"

namespace gr::model {
namespace {

using Production = RemoteProtocol<World>;
static_assert(RemoteWorld<World>);

void expect_kept(const Scenario &scenario, Rules rules = {}) {
    const Outcome outcome = explore(scenario, rules);
    EXPECT_EQ(outcome.violation, "") << outcome.schedule;
    std::printf("    %zu states, %zu steps between them, %.2g schedules of up to %zu steps\n", outcome.states,
                outcome.steps, outcome.schedules, outcome.longest);
}

void expect_broken(const Scenario &scenario, const std::string &violation, Rules rules = {}) {
    const Outcome outcome = explore(scenario, rules);
    EXPECT_EQ(outcome.violation, violation);
    std::printf("    %s\n\n%s", outcome.violation.c_str(), outcome.schedule.c_str());
}

TEST(RemoteProtocol, Give) { expect_kept(give<Production>()); }
TEST(RemoteProtocol, GiveAndTake) { expect_kept(give_and_take<Production>()); }
TEST(RemoteProtocol, GiveTakeAndRefill) { expect_kept(give_take_and_refill<Production>()); }
TEST(RemoteProtocol, ThereAndBack) { expect_kept(there_and_back<Production>()); }
TEST(RemoteProtocol, RoundTrip) { expect_kept(round_trip<Production>()); }
TEST(RemoteProtocol, Recycle) { expect_kept(recycle<Production>()); }
TEST(RemoteProtocol, RecycleWithTwoLate) { expect_kept(recycle_with_two_late<Production>()); }
TEST(RemoteProtocol, TwoSuperblocks) { expect_kept(two_superblocks<Production>()); }
TEST(RemoteProtocol, TwoOwners) { expect_kept(two_owners<Production>()); }
TEST(RemoteProtocol, Crossing) { expect_kept(crossing<Production>()); }
TEST(RemoteProtocol, Fork) { expect_kept(fork<Production>(Acts<Production>::resume_all())); }

TEST(GivingWhileDraining, GiveTakeAndRefill) { expect_kept(give_take_and_refill<GivingProtocol>()); }
TEST(GivingWhileDraining, RoundTrip) { expect_kept(round_trip<GivingProtocol>()); }
TEST(GivingWhileDraining, Recycle) { expect_kept(recycle<GivingProtocol>()); }
TEST(GivingWhileDraining, TwoSuperblocks) { expect_kept(two_superblocks<GivingProtocol>()); }
TEST(GivingWhileDraining, Crossing) { expect_kept(crossing<GivingProtocol>()); }

// The owner changes without the giver's lock: the giver, having read that it is the owner, collects from what is not
// its own any more. The check of the rule itself is off here, as the harm is wanted and not the trespass.
TEST(WithoutRule1, ForeignFreeBitsAreTouched) {
    expect_broken(theft<Production>(), "free bits of s0 touched by A; its owner is B", {.guards_owner = false});
}
TEST(WithoutRule1, TheCheckItselfFires) {
    expect_broken(theft<Production>(), "the owner of s0 changed without the lock of A");
}

TEST(WithoutRule2, SkippedSuperblocksStayMarkedOnNoStack) {
    expect_broken(give<Mutant<Mutation::drainer_skips_foreign>>(), "s0 marked for ever, and on no stack");
}
TEST(WithoutRule2, ClearedSuperblocksKeepTheirBits) {
    expect_broken(give<Mutant<Mutation::drainer_clears_foreign>>(), "remote bits of s0 forgotten");
}

TEST(WithoutRule3, NobodyLooksAtAStackThatLostItsSuperblock) {
    expect_broken(give<Mutant<Mutation::no_second_look_at_owner>>(), "s0 forgotten on the stack of A; its owner is G");
}
TEST(WithoutRule3, NobodyDrainsThePassive) {
    expect_broken(give<Mutant<Mutation::no_settling_of_passive>>(), "s0 forgotten on the stack of G");
}
TEST(WithoutRule3, NobodyLooksAfterUnlocking) {
    expect_broken(give<Mutant<Mutation::no_settling_after_unlock>>(), "s0 forgotten on the stack of A; its owner is G");
}
TEST(WithoutRule3, ForkOnlyUnlocks) {
    expect_broken(fork<Production>(Acts<Production>::resume_all_without_settling()),
                  "s0 forgotten on the stack of A; its owner is G");
}
// The order of unlock and has_pending is part of the rule: a plain release store does not give it, on x86-64 either.
TEST(WithoutRule3, UnlockMustBeVisibleBeforeTheLook) {
    expect_broken(give<Production>(), "s0 forgotten on the stack of A; its owner is G", {.delays_unlocks = true});
}

// The freer's fetch_or becomes visible after its look at the mark: the freer sees the mark set, the drainer clears it
// and sees no bits. Where stores are not delayed the look is harmless, which is why it is tempting.
TEST(WithoutRule4, BothSidesMissEachOther) {
    expect_broken(give<Mutant<Mutation::look_before_exchange>>(), "remote bits of s0 forgotten");
}
TEST(WithoutRule4, SequentialConsistencyHidesIt) {
    expect_kept(give<Mutant<Mutation::look_before_exchange>>(), {.delays_remote_frees = false});
}

TEST(WithoutRule5, TheWalkLeavesItsStack) {
    expect_broken(two_superblocks<Mutant<Mutation::link_read_late>>(), "s1 lies on a stack unmarked");
}

// Else the mutants would tell nothing about the original.
TEST(Mutant, WithAllRulesTakesTheSameSteps) {
    using Same = Mutant<Mutation::none>;
    const auto expect_same = [](const Scenario &original, const Scenario &mutant) {
        const Outcome expected = explore(original);
        const Outcome outcome = explore(mutant);
        EXPECT_EQ(outcome.states, expected.states);
        EXPECT_EQ(outcome.steps, expected.steps);
        EXPECT_EQ(outcome.schedules, expected.schedules);
    };
    expect_same(give<Production>(), give<Same>());
    expect_same(recycle<Production>(), recycle<Same>());
    expect_same(two_superblocks<Production>(), two_superblocks<Same>());
}

}  // namespace
}  // namespace gr::model

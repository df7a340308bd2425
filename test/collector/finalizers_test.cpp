// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finalizers by each order, alone, in chains and in cycles, and against the rules by sets on any graph.
// Invariant: a collection marks what is held and what the finalizers keep, settles, and sweeps the rest.
// Must not know: links.
#include "collector/finalizers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/graph.hpp"
#include "fake/memory.hpp"

namespace gr::finalizers_test {

using Order = FinalizationOrder;
using Objects = std::vector<void *>;

std::vector<std::pair<void *, void *>> calls;
void note(void *object, void *client_data) { calls.emplace_back(object, client_data); }
void other(void *, void *) {}

FinalizationReport collect(fake::Graph &graph, Finalizers &finalizers, JavaFinalization java = JavaFinalization::on) {
    graph.begin();
    finalizers.for_each_root([&](const void *pointer) { graph.mark_what(pointer); });
    const FinalizationReport report = finalizers.queue_dead(graph, java);
    graph.sweep();
    return report;
}

class FinalizersTest : public testing::Test {
  protected:
    void SetUp() override { calls.clear(); }
    void TearDown() override { fake::reset(); }

    void **finalizable(Order order, std::size_t words = 4) {
        void **const object = graph_.make(words);
        EXPECT_TRUE(finalizers_.set(object, {note, nullptr, order}));
        return object;
    }
    FinalizationReport collect(JavaFinalization java = JavaFinalization::on) {
        return finalizers_test::collect(graph_, finalizers_, java);
    }
    std::size_t call() {
        return call_finalizers([this](QueuedFinalizer *one) { return finalizers_.take(one); });
    }
    // What a collection queued, called at once.
    Objects called_after_collection(JavaFinalization java = JavaFinalization::on) {
        calls.clear();
        const std::size_t queued = collect(java).queued;
        EXPECT_EQ(call(), queued);
        Objects objects;
        for (const auto &[object, data] : calls) objects.push_back(object);
        std::sort(objects.begin(), objects.end());
        return objects;
    }
    static Objects sorted(Objects objects) {
        std::sort(objects.begin(), objects.end());
        return objects;
    }

    fake::Graph graph_;
    Finalizers finalizers_;
};

class EachOrder : public FinalizersTest, public testing::WithParamInterface<Order> {};

TEST_P(EachOrder, RunsOnceWhenNothingReachesTheObject) {
    void **const object = finalizable(GetParam());
    void **const reached = graph_.make();
    object[1] = reached;
    graph_.hold(object);
    EXPECT_EQ(called_after_collection(), Objects());
    graph_.let_go(object);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_TRUE(graph_.is_object(object) && graph_.is_object(reached)) << "the finalizer would see freed memory";
    EXPECT_EQ(finalizers_.queued(), 1U);
    EXPECT_EQ(finalizers_.registered(), 0U);
    EXPECT_EQ(collect().queued, 0U);
    EXPECT_TRUE(graph_.is_object(object) && graph_.is_object(reached)) << "what is queued is a root";
    EXPECT_EQ(finalizers_.queued(), 1U) << "once queued it is queued";
    EXPECT_EQ(call(), 1U);
    EXPECT_EQ(calls.front().first, object);
    EXPECT_EQ(finalizers_.queued(), 0U);
    EXPECT_EQ(collect().queued, 0U);
    EXPECT_FALSE(graph_.is_object(object) || graph_.is_object(reached));
}

TEST_P(EachOrder, KeepsWhatItReachesWithoutJava) {
    void **const object = finalizable(GetParam());
    void **const reached = graph_.make();
    object[1] = reached;
    EXPECT_EQ(collect(JavaFinalization::off).queued, 1U);
    EXPECT_TRUE(graph_.is_object(object) && graph_.is_object(reached));
}

TEST_P(EachOrder, IsKeptByNothingButItsClientData) {
    void **const object = finalizable(GetParam());
    void **const data = graph_.make();
    data[0] = graph_.make();
    ASSERT_TRUE(finalizers_.set(object, {note, data, GetParam()}));
    graph_.hold(object);
    collect();
    EXPECT_TRUE(graph_.is_object(data) && graph_.is_object(data[0]));
    graph_.let_go(object);
    collect();
    collect();
    EXPECT_TRUE(graph_.is_object(data) && graph_.is_object(data[0])) << "it is wanted by the call";
    EXPECT_EQ(call(), 1U);
    EXPECT_EQ(calls.front().second, data);
    collect();
    EXPECT_FALSE(graph_.is_object(data));
}

TEST_P(EachOrder, NeverRunsWhenTheClientDataReachesTheObject) {
    void **const object = finalizable(GetParam());
    void **const data = graph_.make();
    data[3] = object;
    ASSERT_TRUE(finalizers_.set(object, {note, data, GetParam()}));
    EXPECT_EQ(called_after_collection(), Objects());
    EXPECT_TRUE(graph_.is_object(object));
}

TEST_P(EachOrder, MayBeRegisteredAgainByItsCall) {
    void **const object = finalizable(GetParam());
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(called_after_collection(), Objects{object});
        ASSERT_TRUE(finalizers_.set(object, {note, nullptr, GetParam()}));
    }
}

TEST_P(EachOrder, HoldsBackWhatItReachesUnlessItHasNone) {
    void **const first = finalizable(GetParam());
    void **const between = graph_.make();
    first[0] = between;
    void **const last = finalizable(Order::normal);
    between[0] = last;
    if (GetParam() == Order::none) {
        EXPECT_EQ(called_after_collection(), sorted({first, last}));
        return;
    }
    EXPECT_EQ(called_after_collection(), Objects{first});
    EXPECT_EQ(called_after_collection(), Objects{last});
    EXPECT_EQ(called_after_collection(), Objects());
}

TEST_P(EachOrder, WaitsForAnOrderedOneThatReachesIt) {
    void **const first = finalizable(Order::normal);
    void **const last = finalizable(GetParam());
    first[0] = last;
    EXPECT_EQ(called_after_collection(), Objects{first});
    EXPECT_EQ(called_after_collection(), Objects{last});
}

std::string name_of(const testing::TestParamInfo<Order> &order) {
    constexpr std::array<const char *, 4> kNames{"Normal", "IgnoreSelf", "None", "Unreachable"};
    return kNames[static_cast<std::size_t>(order.param)];
}

INSTANTIATE_TEST_SUITE_P(Orders, EachOrder,
                         testing::Values(Order::normal, Order::ignore_self, Order::none, Order::unreachable), name_of);

TEST_F(FinalizersTest, SaysWhatThereWasBefore) {
    void **const object = graph_.make();
    void **const data = graph_.make();
    std::optional<Finalizer> before = finalizers_.set(object, {note, data, Order::none});
    ASSERT_TRUE(before);
    EXPECT_EQ(before->procedure, nullptr);
    EXPECT_EQ(before->client_data, nullptr);
    before = finalizers_.set(object, {other, nullptr, Order::normal});
    ASSERT_TRUE(before);
    EXPECT_EQ(before->procedure, note);
    EXPECT_EQ(before->client_data, data);
    EXPECT_EQ(before->order, Order::none);
    EXPECT_EQ(finalizers_.registered(), 1U);
    before = finalizers_.set(object, {});
    ASSERT_TRUE(before);
    EXPECT_EQ(before->procedure, other);
    EXPECT_EQ(finalizers_.registered(), 0U);
    before = finalizers_.set(object, {});
    ASSERT_TRUE(before);
    EXPECT_EQ(before->procedure, nullptr);
    EXPECT_EQ(called_after_collection(), Objects());
    EXPECT_FALSE(graph_.is_object(object)) << "nothing is registered for it";
    EXPECT_FALSE(graph_.is_object(data));
}

TEST_F(FinalizersTest, ItsOwnPointersHoldANormalObjectForEver) {
    void **const object = finalizable(Order::normal);
    object[2] = object;
    for (int round = 0; round < 2; ++round) {
        const FinalizationReport report = collect();
        EXPECT_EQ(report.queued, 0U);
        EXPECT_EQ(report.cycles, 1U);
        EXPECT_EQ(report.in_cycle, object);
    }
    object[2] = nullptr;
    EXPECT_EQ(called_after_collection(), Objects{object});
}

TEST_F(FinalizersTest, IgnoringItselfLeavesOutItsOwnPointersAndNoOther) {
    void **const object = finalizable(Order::ignore_self, 7);
    Objects reached;
    for (const std::size_t word : {1U, 2U, 5U}) reached.push_back(object[word] = graph_.make());
    object[0] = object;
    object[3] = &object[5];
    object[4] = object;
    object[6] = reinterpret_cast<char *>(object) + 1;
    EXPECT_EQ(collect().cycles, 0U);
    EXPECT_EQ(finalizers_.queued(), 1U);
    for (const void *const one : reached) EXPECT_TRUE(graph_.is_object(one));
    EXPECT_EQ(call(), 1U);
}

TEST_F(FinalizersTest, IgnoringItselfDoesNotIgnoreAWayBackThroughOthers) {
    void **const object = finalizable(Order::ignore_self);
    void **const friend_of_it = graph_.make();
    object[0] = friend_of_it;
    friend_of_it[0] = object;
    EXPECT_EQ(collect().cycles, 1U);
    EXPECT_EQ(finalizers_.queued(), 0U);
    EXPECT_TRUE(graph_.is_object(object));
}

TEST_F(FinalizersTest, ACycleOfOrderedOnesWaitsForEverAndOneOfThemIsNamed) {
    void **const first = finalizable(Order::normal);
    void **const second = finalizable(Order::normal);
    first[0] = second;
    second[0] = first;
    const FinalizationReport report = collect();
    EXPECT_EQ(report.queued, 0U);
    EXPECT_EQ(report.cycles, 1U);
    EXPECT_TRUE(report.in_cycle == first || report.in_cycle == second);
    EXPECT_EQ(finalizers_.registered(), 2U);
    EXPECT_TRUE(graph_.is_object(first) && graph_.is_object(second));
}

TEST_F(FinalizersTest, ACycleWithoutOrderRunsAtOnce) {
    void **const first = finalizable(Order::none);
    void **const second = finalizable(Order::none);
    first[0] = second;
    second[0] = first;
    EXPECT_EQ(collect().cycles, 0U);
    EXPECT_EQ(finalizers_.queued(), 2U);
}

TEST_F(FinalizersTest, UnreachableWaitsForThoseWithoutOrderIfFinalizationIsJavas) {
    void **const first = finalizable(Order::none);
    void **const last = finalizable(Order::unreachable);
    void **const data = graph_.make();
    ASSERT_TRUE(finalizers_.set(last, {note, data, Order::unreachable}));
    first[0] = last;
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(finalizers_.registered(), 1U) << "it is registered again";
    EXPECT_EQ(call(), 1U);
    EXPECT_EQ(calls.back().first, first);
    EXPECT_TRUE(graph_.is_object(last));
    EXPECT_EQ(called_after_collection(), Objects{last});
    EXPECT_EQ(calls.back().second, data);
}

TEST_F(FinalizersTest, UnreachableWaitsForNoneElseWithoutJava) {
    void **const first = finalizable(Order::none);
    void **const last = finalizable(Order::unreachable);
    first[0] = last;
    EXPECT_EQ(called_after_collection(JavaFinalization::off), sorted({first, last}));
}

TEST_F(FinalizersTest, TheLastQueuedAreAtTheEndOfTheQueue) {
    finalizable(Order::normal);
    collect();
    void **const second = finalizable(Order::normal);
    const FinalizationReport report = collect();
    ASSERT_EQ(report.queued, 1U);
    EXPECT_EQ(finalizers_.queue().last(report.queued).front().object, second);
}

TEST_F(FinalizersTest, OnceQueuedUnreachableIsNotTakenBack) {
    void **const object = finalizable(Order::unreachable);
    collect();
    void **const later = finalizable(Order::none);
    later[0] = object;
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(finalizers_.queued(), 2U);
    EXPECT_EQ(finalizers_.registered(), 0U);
}

TEST_F(FinalizersTest, PointerFreeObjectsHoldNothingBack) {
    for (const Order order : {Order::normal, Order::ignore_self, Order::unreachable}) {
        void **const object = graph_.make(4, fake::Words::none);
        ASSERT_TRUE(finalizers_.set(object, {note, nullptr, order}));
        void **const named = finalizable(Order::normal);
        object[0] = named;
        object[1] = object;
        EXPECT_EQ(called_after_collection(), sorted({object, named}));
    }
}

TEST_F(FinalizersTest, AllMayBeQueuedReachableOrNot) {
    void **const held = finalizable(Order::normal);
    void **const first = finalizable(Order::normal);
    void **const second = finalizable(Order::unreachable);
    graph_.hold(held);
    first[0] = second;
    second[0] = first;
    EXPECT_EQ(finalizers_.queue_all(), 3U);
    EXPECT_EQ(finalizers_.registered(), 0U);
    EXPECT_EQ(finalizers_.queued(), 3U);
    collect();
    EXPECT_TRUE(graph_.is_object(first) && graph_.is_object(second));
    EXPECT_EQ(call(), 3U);
    EXPECT_EQ(finalizers_.queue_all(), 0U);
}

TEST_F(FinalizersTest, ACallSeesTheRestOfTheQueue) {
    static Finalizers *static_finalizers;
    static std::vector<std::size_t> left;
    static_finalizers = &finalizers_;
    left.clear();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(finalizers_.set(graph_.make(),
                                    {[](void *, void *) { left.push_back(static_finalizers->queued()); }, nullptr}));
    }
    collect();
    EXPECT_EQ(call(), 3U);
    EXPECT_EQ(left, (std::vector<std::size_t>{2, 1, 0})) << "one is taken at a time";
    EXPECT_EQ(call(), 0U);
}

TEST_F(FinalizersTest, WithoutMemoryNothingIsRegisteredOrLost) {
    fake::fail(fake::Call::map, 0);
    void **const object = graph_.make();
    EXPECT_FALSE(finalizers_.set(object, {note, nullptr, Order::normal}));
    EXPECT_EQ(finalizers_.registered(), 0U);
    fake::reset();
    ASSERT_TRUE(finalizers_.set(object, {note, nullptr, Order::normal}));
    fake::fail(fake::Call::map, 0);
    EXPECT_EQ(finalizers_.queue_all(), 0U);
    EXPECT_EQ(collect().queued, 0U);
    ASSERT_TRUE(graph_.is_object(object)) << "freed without its finalizer";
    EXPECT_EQ(finalizers_.registered(), 1U);
    fake::reset();
    EXPECT_EQ(called_after_collection(), Objects{object});
}

// The rules once more, by sets: reach() of what is reached and nothing by the order in which objects are met.
class Rules {
  public:
    using Set = std::set<std::size_t>;
    struct Node {
        Set to;
        bool held;
        std::optional<Order> order;
    };

    explicit Rules(const std::vector<Node> &nodes) : nodes_(nodes) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i].held) reach(i, &live);
        }
        Set waiting = live;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (live.count(i) == 0) hold_back(i, &waiting);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i].order && waiting.count(i) == 0) queued.insert(i);
        }
        live = waiting;
        for (const std::size_t i : queued) {
            if (*nodes[i].order != Order::unreachable) reach(i, &live);
        }
        std::erase_if(queued,
                      [&](std::size_t i) { return *nodes[i].order == Order::unreachable && live.count(i) != 0; });
        for (const std::size_t i : queued) reach(i, &live);
    }

    Set live;
    Set queued;

  private:
    void reach(std::size_t i, Set *reached) const {
        if (!reached->insert(i).second) return;
        for (const std::size_t to : nodes_[i].to) reach(to, reached);
    }
    void hold_back(std::size_t i, Set *waiting) const {
        if (!nodes_[i].order || *nodes_[i].order == Order::none) return;
        Set reached;
        for (const std::size_t to : nodes_[i].to) {
            if (to != i || *nodes_[i].order != Order::ignore_self) reach(to, &reached);
        }
        waiting->merge(reached);
    }

    const std::vector<Node> &nodes_;
};

std::vector<Rules::Node> any_graph() {
    constexpr std::size_t kMost = 10;
    std::vector<Rules::Node> nodes(*rc::gen::inRange<std::size_t>(1, kMost));
    for (Rules::Node &node : nodes) {
        node.to = *rc::gen::resize(3, rc::gen::container<Rules::Set>(rc::gen::inRange<std::size_t>(0, nodes.size())));
        node.held = *rc::gen::weightedElement<bool>({{1, true}, {6, false}});
        node.order = *rc::gen::element<std::optional<Order>>(std::nullopt, Order::normal, Order::ignore_self,
                                                             Order::none, Order::unreachable);
    }
    return nodes;
}

RC_GTEST_PROP(FinalizersProperty, QueueAndKeepWhatTheRulesSay, ()) {
    const std::vector<Rules::Node> nodes = any_graph();
    fake::Graph graph;
    Finalizers finalizers;
    std::vector<void **> objects;
    for (const Rules::Node &node : nodes) {
        void **const object = objects.emplace_back(graph.make(nodes.size()));
        if (node.held) graph.hold(object);
        if (node.order) RC_ASSERT(finalizers.set(object, {note, nullptr, *node.order}).has_value());
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const std::size_t to : nodes[i].to) objects[i][to] = objects[to];
    }
    const Rules rules(nodes);
    RC_TAG(rules.queued.size());
    collect(graph, finalizers);
    Rules::Set live;
    Rules::Set queued;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (graph.is_object(objects[i])) live.insert(i);
        for (const QueuedFinalizer &one : finalizers.queue()) {
            if (one.object == objects[i]) queued.insert(i);
        }
    }
    RC_ASSERT(queued == rules.queued);
    RC_ASSERT(live == rules.live);
    RC_ASSERT(finalizers.queue().size() == queued.size());
}

}  // namespace gr::finalizers_test

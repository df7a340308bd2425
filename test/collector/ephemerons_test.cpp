// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: ephemerons alone, in chains and in cycles, and with finalizers and links; and against the rule by sets on any
//    graph.
// Invariant: each test collects a graph, and looks at what stays.
// Must not know: where an ephemeron's key and value are stored.
#include "collector/ephemerons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "collector/finalization_fixture.hpp"
#include "collector/graph.hpp"

namespace gr::ephemerons_test {

static_assert(Marking<EphemeronMarking<fake::Graph>>);

// Counts what is asked of the marks.
class CountingGraph : public fake::Graph {
  public:
    bool is_marked(const void *p) const {
        ++asked_;
        return Graph::is_marked(p);
    }
    void mark(const void *p) {
        ++asked_;
        Graph::mark(p);
    }
    std::size_t asked() const { return asked_; }

  private:
    mutable std::size_t asked_ = 0;
};

class EphemeronsTest : public fake::FinalizationFixture<CountingGraph> {
  protected:
    // As libgc makes one: a block without pointers.
    void **ephemeron(const void *key, const void *value) {
        void **const made = graph_.make(1, fake::Words::none);
        EXPECT_TRUE(all_.ephemerons.set(made, key, value));
        return made;
    }
    void **held_ephemeron(const void *key, const void *value) {
        void **const made = ephemeron(key, value);
        graph_.hold(made);
        return made;
    }
    void **held() {
        void **const made = graph_.make();
        graph_.hold(made);
        return made;
    }
    bool is_whole(const void *ephemeron, const void *key, const void *value) {
        return all_.ephemerons.key(ephemeron) == key && all_.ephemerons.value(ephemeron) == value;
    }
    bool is_cleared(const void *ephemeron) { return is_whole(ephemeron, nullptr, nullptr); }
};

TEST_F(EphemeronsTest, AValueStaysWhileItsKeyDoes) {
    void **const key = held();
    void **const value = graph_.make();
    value[0] = graph_.make();
    const void *const pair = held_ephemeron(key, value);
    collect();
    EXPECT_TRUE(is_whole(pair, key, value));
    EXPECT_TRUE(graph_.is_object(value) && graph_.is_object(value[0]));
    graph_.let_go(key);
    collect();
    EXPECT_TRUE(is_cleared(pair));
    EXPECT_FALSE(graph_.is_object(key) || graph_.is_object(value) || graph_.is_object(value[0]));
    EXPECT_TRUE(graph_.is_object(pair));
    EXPECT_EQ(all_.ephemerons.size(), 0U);
}

TEST_F(EphemeronsTest, AValueThatRefersToItsKeyKeepsNeither) {
    void **const key = graph_.make();
    void **const value = graph_.make();
    value[0] = key;
    const void *const pair = held_ephemeron(key, value);
    const void *const own = held_ephemeron(key, key);
    collect();
    EXPECT_TRUE(is_cleared(pair) && is_cleared(own));
    EXPECT_FALSE(graph_.is_object(key) || graph_.is_object(value));
}

TEST_F(EphemeronsTest, AnEphemeronThatNothingReachesKeepsNoValue) {
    void **const key = held();
    void **const value = graph_.make();
    ephemeron(key, value);
    collect();
    EXPECT_FALSE(graph_.is_object(value));
    EXPECT_EQ(all_.ephemerons.size(), 0U);
}

TEST_F(EphemeronsTest, AValueMayBeNoObject) {
    void **const key = held();
    const void *const number = reinterpret_cast<const void *>(std::uintptr_t{42});
    const void *const of_number = held_ephemeron(key, number);
    const void *const of_nothing = held_ephemeron(key, nullptr);
    collect();
    EXPECT_TRUE(is_whole(of_number, key, number));
    EXPECT_TRUE(is_whole(of_nothing, key, nullptr));
}

TEST_F(EphemeronsTest, ManyEphemeronsWaitForOneKey) {
    void **const first = held();
    void **const key = graph_.make();
    std::vector<void **> values;
    for (int i = 0; i < 10; ++i) {
        values.push_back(graph_.make());
        held_ephemeron(key, values.back());
    }
    held_ephemeron(first, key);
    collect();
    for (void **const value : values) EXPECT_TRUE(graph_.is_object(value));
    graph_.let_go(first);
    collect();
    for (void **const value : values) EXPECT_FALSE(graph_.is_object(value));
}

TEST_F(EphemeronsTest, AnEphemeronIsReachedByTheValueOfAnother) {
    void **const key = held();
    void **const value = graph_.make();
    void **const holder = graph_.make();
    void **const inner = ephemeron(key, value);
    holder[0] = inner;
    held_ephemeron(key, holder);
    collect();
    EXPECT_TRUE(is_whole(inner, key, value));
    EXPECT_TRUE(graph_.is_object(value));
}

// The value of each is the key of the next. The hash of addresses puts them in an order in which looking again and again
// would take rounds.
TEST_F(EphemeronsTest, AChainTakesStepsLinearInItsLength) {
    constexpr std::size_t kLength = 100'000;
    const std::size_t mapped_before = fake::mapped_bytes();
    std::vector<void **> keys(kLength + 1);
    for (void **&key : keys) key = graph_.make(1);
    graph_.hold(keys[0]);
    for (std::size_t i = kLength; i-- != 0;) held_ephemeron(keys[i], keys[i + 1]);
    const unsigned maps_before = fake::calls(fake::Call::map);
    collect();
    EXPECT_EQ(fake::calls(fake::Call::map), maps_before + 1) << "an index that grows in the order of its hash is slow";
    EXPECT_TRUE(graph_.is_object(keys[kLength]));
    EXPECT_EQ(all_.ephemerons.size(), kLength);
    constexpr std::size_t kMostForEach = 8;
    EXPECT_LE(graph_.asked(), kMostForEach * kLength);
    graph_.let_go(keys[0]);
    collect();
    EXPECT_EQ(all_.ephemerons.size(), 0U);
    EXPECT_LE(graph_.asked(), 2 * kMostForEach * kLength);
    EXPECT_EQ(fake::mapped_bytes(), mapped_before);
}

TEST_F(EphemeronsTest, ACycleOfEphemeronsDiesWhole) {
    constexpr std::size_t kLength = 100;
    std::vector<void **> keys(kLength);
    std::vector<void **> pairs;
    for (void **&key : keys) key = graph_.make();
    for (std::size_t i = 0; i < kLength; ++i) pairs.push_back(held_ephemeron(keys[i], keys[(i + 1) % kLength]));
    graph_.hold(keys[17]);
    collect();
    for (std::size_t i = 0; i < kLength; ++i) EXPECT_TRUE(is_whole(pairs[i], keys[i], keys[(i + 1) % kLength]));
    graph_.let_go(keys[17]);
    collect();
    for (std::size_t i = 0; i < kLength; ++i) EXPECT_TRUE(is_cleared(pairs[i]) && !graph_.is_object(keys[i]));
}

TEST_F(EphemeronsTest, AValueThatIsReachedIsNotFinalized) {
    void **const key = held();
    void **const value = graph_.make();
    finalize(value);
    held_ephemeron(key, value);
    EXPECT_EQ(collect().queued, 0U);
    graph_.let_go(key);
    EXPECT_EQ(collect().queued, 1U);
}

TEST_F(EphemeronsTest, AnEphemeronIsClearedBeforeTheFinalizerOfItsKey) {
    void **const key = graph_.make();
    void **const value = graph_.make();
    finalize(key);
    const void *const pair = held_ephemeron(key, value);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_TRUE(is_cleared(pair));
    EXPECT_TRUE(graph_.is_object(key));
    EXPECT_FALSE(graph_.is_object(value));
}

TEST_F(EphemeronsTest, WhatAFinalizerBringsBackBringsBackTheValuesOfItsEphemerons) {
    void **const key = held();
    void **const value = graph_.make();
    void **const second = graph_.make();
    void **const object = graph_.make();
    void **const inner = ephemeron(key, second);
    value[0] = inner;
    void **const pair = ephemeron(key, value);
    object[0] = pair;
    finalize(object);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_TRUE(is_whole(pair, key, value));
    EXPECT_TRUE(is_whole(inner, key, second));
    EXPECT_TRUE(graph_.is_object(value) && graph_.is_object(second));
    EXPECT_EQ(call(), 1U);
    collect();
    EXPECT_FALSE(graph_.is_object(value) || graph_.is_object(second));
}

// An order of finalizers follows references, and an ephemeron with a live key refers to its value.
TEST_F(EphemeronsTest, AFinalizerWaitsForThatOfAnObjectWithAnEphemeronOfIt) {
    void **const key = held();
    void **const last = graph_.make();
    void **const first = graph_.make();
    first[0] = ephemeron(key, last);
    finalize(last);
    finalize(first);
    EXPECT_EQ(collect().queued, 1U);
    ASSERT_EQ(all_.finalizers.queue().size(), 1U);
    EXPECT_EQ(all_.finalizers.queue()[0].object, first);
    EXPECT_EQ(call(), 1U);
    EXPECT_EQ(collect().queued, 1U);
}

TEST_F(EphemeronsTest, AShortLinkToAValueStandsWhileTheKeyDoes) {
    void **const key = held();
    void **const value = graph_.make();
    held_ephemeron(key, value);
    void *cell = value;
    link(all_.short_links, &cell, value);
    collect();
    EXPECT_EQ(cell, value);
    graph_.let_go(key);
    collect();
    EXPECT_EQ(cell, nullptr);
}

TEST_F(EphemeronsTest, IsGivenAnotherPairAndRemoved) {
    void **const key = held();
    void **const before = graph_.make();
    void **const after = graph_.make();
    void **const pair = held_ephemeron(key, before);
    EXPECT_TRUE(all_.ephemerons.set(pair, key, after));
    EXPECT_EQ(all_.ephemerons.size(), 1U);
    collect();
    EXPECT_FALSE(graph_.is_object(before));
    EXPECT_TRUE(graph_.is_object(after));
    EXPECT_TRUE(all_.ephemerons.remove(pair));
    EXPECT_FALSE(all_.ephemerons.remove(pair));
    EXPECT_TRUE(is_cleared(pair));
    collect();
    EXPECT_FALSE(graph_.is_object(after));
}

TEST_F(EphemeronsTest, NothingIsClearedWhereTheMarkingFailed) {
    void **const key = graph_.make();
    void **const object = graph_.make();
    finalize(object);
    void **const pair = ephemeron(key, object);
    graph_.fail();
    graph_.begin();
    EXPECT_EQ(all_.settle(graph_, JavaFinalization::on).queued, 0U);
    EXPECT_TRUE(is_whole(pair, key, object));
    EXPECT_EQ(all_.finalizers.registered(), 1U);
}

TEST_F(EphemeronsTest, WithoutMemoryToWaitAValueStays) {
    void **const key = graph_.make();
    void **const value = graph_.make();
    const void *const pair = held_ephemeron(key, value);
    fake::fail(fake::Call::map, 0);
    collect();
    fake::reset();
    EXPECT_TRUE(is_cleared(pair)) << "its key has died";
    EXPECT_TRUE(graph_.is_object(value)) << "nobody knew whether the key would be reached";
    collect();
    EXPECT_FALSE(graph_.is_object(value));
}

// The rule: the least set that has what is held, what an object of it refers to, and the value of each ephemeron of it
// whose key it has.
TEST_F(EphemeronsTest, KeepsOnAnyGraphWhatTheRuleSays) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        fake::Graph graph;
        Ephemerons ephemerons;
        struct Joined {
            void **key;
            void **value;
        };
        std::vector<void **> objects;
        std::vector<Joined> joined(30, Joined{nullptr, nullptr});
        std::set<void **> kept;
        const auto any = [&] { return objects[random() % objects.size()]; };
        for (int i = 0; i < 30; ++i) objects.push_back(graph.make(2));
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (random() % 3 == 0) objects[i][0] = any();
            if (random() % 6 == 0) objects[i][1] = any();
            if (random() % 8 == 0) kept.insert(objects[i]);
            if (random() % 2 == 0) joined[i] = {any(), any()};
            if (joined[i].key == nullptr) continue;
            ASSERT_TRUE(ephemerons.set(objects[i], joined[i].key, joined[i].value));
        }
        for (void **const object : kept) graph.hold(object);
        for (std::size_t before = 0; before != kept.size();) {
            before = kept.size();
            for (std::size_t i = 0; i < objects.size(); ++i) {
                if (kept.count(objects[i]) == 0) continue;
                for (void *const to : {objects[i][0], objects[i][1]})
                    if (to != nullptr) kept.insert(static_cast<void **>(to));
                if (joined[i].key != nullptr && kept.count(joined[i].key) != 0) kept.insert(joined[i].value);
            }
        }
        graph.begin();
        EphemeronMarking<fake::Graph>(ephemerons, graph).begin();
        for (std::size_t i = 0; i < objects.size(); ++i)
            ASSERT_EQ(graph.is_marked(objects[i]), kept.count(objects[i]) != 0) << "seed " << seed << ", object " << i;
        ephemerons.clear_dead(graph);
        ephemerons.forget_dead(graph);
        for (std::size_t i = 0; i < objects.size(); ++i) {
            const bool stays =
                joined[i].key != nullptr && kept.count(objects[i]) != 0 && kept.count(joined[i].key) != 0;
            ASSERT_EQ(ephemerons.key(objects[i]), stays ? joined[i].key : nullptr);
            ASSERT_EQ(ephemerons.value(objects[i]), stays ? joined[i].value : nullptr);
        }
    }
}

}  // namespace gr::ephemerons_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: links, finalizers and toggle references together: what one brings back the others see, or not.
// Invariant: each test collects a graph, and looks at what stays.
// Must not know: each part's own rules.
#include "collector/finalization.hpp"

#include "collector/finalization_fixture.hpp"
#include "collector/graph.hpp"

namespace gr::finalization_test {

using FinalizationTest = fake::FinalizationFixture<fake::Graph>;

TEST_F(FinalizationTest, AShortLinkGoesBeforeTheFinalizerALongOneAfter) {
    void **const object = finalizable(FinalizationOrder::normal);
    void **const reached = graph_.make();
    object[0] = reached;
    void *shorts[2] = {object, reached};
    void *longs[2] = {object, reached};
    for (int i = 0; i < 2; ++i) {
        link(all_.short_links, &shorts[i], shorts[i]);
        link(all_.long_links, &longs[i], longs[i]);
    }
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(shorts[0], nullptr);
    EXPECT_EQ(shorts[1], nullptr) << "what is reached only from it was dead, too";
    EXPECT_EQ(longs[0], object);
    EXPECT_EQ(longs[1], reached);
    EXPECT_EQ(call(), 1U);
    collect();
    EXPECT_EQ(longs[0], nullptr);
    EXPECT_EQ(longs[1], nullptr);
    EXPECT_EQ(all_.long_links.size(), 0U);
}

TEST_F(FinalizationTest, ALongLinkStaysWhileAnObjectWaitsForAnother) {
    void **const first = finalizable(FinalizationOrder::none);
    void **const last = finalizable(FinalizationOrder::unreachable);
    first[0] = last;
    void *cell = last;
    link(all_.long_links, &cell, last);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(cell, last);
    EXPECT_EQ(call(), 1U);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(cell, last);
    EXPECT_EQ(call(), 1U);
    collect();
    EXPECT_EQ(cell, nullptr);
}

TEST_F(FinalizationTest, LinksInAnObjectThatComesBackStayRegistered) {
    void **const target = graph_.make();
    graph_.hold(target);
    void **const holder = finalizable(FinalizationOrder::none);
    void **const reached = graph_.make();
    holder[0] = reached;
    void **const dead = graph_.make();
    link(all_.short_links, &holder[1], target);
    link(all_.short_links, &reached[1], target);
    link(all_.short_links, &dead[1], target);
    link(all_.long_links, &reached[2], target);
    link(all_.long_links, &dead[2], target);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(all_.short_links.size(), 2U);
    EXPECT_EQ(all_.long_links.size(), 1U);
    EXPECT_TRUE(all_.short_links.remove(&holder[1]));
    EXPECT_TRUE(all_.short_links.remove(&reached[1]));
    EXPECT_TRUE(all_.long_links.remove(&reached[2]));
}

TEST_F(FinalizationTest, AShortLinkInADeadObjectIsClearedBeforeItsHolderComesBack) {
    void **const target = graph_.make();
    void **const holder = finalizable(FinalizationOrder::normal);
    holder[0] = reinterpret_cast<void *>(~reinterpret_cast<std::uintptr_t>(target));
    link(all_.short_links, &holder[0], target);
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(holder[0], nullptr) << "the finalizer would find what is gone";
    EXPECT_FALSE(graph_.is_object(target));
}

TEST_F(FinalizationTest, WhatAStrongToggleReferenceKeepsIsNotDead) {
    void **const object = finalizable(FinalizationOrder::normal);
    void *cell = object;
    link(all_.short_links, &cell, object);
    ASSERT_TRUE(all_.toggles.add(object, ToggleStatus::strong));
    EXPECT_EQ(collect().queued, 0U);
    EXPECT_EQ(cell, object);
    all_.toggles.ask_about_each([](void *) { return ToggleStatus::weak; });
    EXPECT_EQ(collect().queued, 1U);
    EXPECT_EQ(cell, nullptr);
    EXPECT_EQ(all_.toggles.size(), 1U) << "the object came back for its finalizer";
    EXPECT_EQ(call(), 1U);
    collect();
    EXPECT_EQ(all_.toggles.size(), 0U);
}

// Whatever their kind: an ephemeron that dies may release as much as a link's object.
TEST_F(FinalizationTest, ManyRegistrationsOfAnyKindMakeACollectionDue) {
    std::size_t registered = 0;
    void **const key = graph_.make();
    graph_.hold(key);
    std::vector<void **> ephemerons;
    for (; !all_.is_due(); ++registered) {
        ephemerons.push_back(graph_.make(1, fake::Words::none));
        ASSERT_TRUE(all_.ephemerons.set(ephemerons.back(), key, nullptr));
        ASSERT_LT(registered, std::size_t{1} << 20) << "no number of ephemerons makes a collection due";
    }
    for (void **const ephemeron : ephemerons) graph_.hold(ephemeron);
    collect();
    EXPECT_FALSE(all_.is_due());
    std::vector<void *> cells(2 * registered, key);
    std::size_t links = 0;
    for (; links < cells.size() && !all_.is_due(); ++links) link(all_.short_links, &cells[links], key);
    EXPECT_TRUE(all_.is_due());
    EXPECT_GT(links, registered) << "the ephemerons that stay do not put the next collection off";
    for (void **const ephemeron : ephemerons) graph_.let_go(ephemeron);
    ASSERT_EQ(all_.ephemerons.size(), registered);
    collect();
    EXPECT_EQ(all_.ephemerons.size(), 0U);
    std::size_t finalizers = 0;
    for (; !all_.is_due(); ++finalizers) finalize(key + finalizers);
    EXPECT_LT(finalizers, links + registered) << "ephemerons that are gone still count";
}

}  // namespace gr::finalization_test

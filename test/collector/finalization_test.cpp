// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: links, finalizers and toggle references together: what one brings back the others see, or not.
// Invariant: a collection marks what is held and what finalization keeps, settles, and sweeps the rest.
// Must not know: each part's own rules.
#include "collector/finalization.hpp"

#include <gtest/gtest.h>

#include "collector/graph.hpp"

namespace gr::finalization_test {

void nothing(void *, void *) {}

class FinalizationTest : public testing::Test {
  protected:
    FinalizationReport collect() {
        graph_.begin();
        all_.for_each_root([&](const void *pointer) { graph_.mark_what(pointer); });
        const FinalizationReport report = all_.settle(graph_, JavaFinalization::on);
        graph_.sweep();
        return report;
    }
    std::size_t call() {
        return call_finalizers([this](QueuedFinalizer *one) { return all_.finalizers.take(one); });
    }
    void **finalizable(FinalizationOrder order) {
        void **const object = graph_.make();
        EXPECT_TRUE(all_.finalizers.set(object, {nothing, nullptr, order}));
        return object;
    }
    void link(Links &links, void **cell, const void *object) {
        EXPECT_EQ(links.add(cell, object), LinkResult::success);
    }

    fake::Graph graph_;
    Finalization all_;
};

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

}  // namespace gr::finalization_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: toggle references: what is kept, what is asked, what is forgotten.
// Invariant: what is marked is what the test holds and what strong references keep.
// Must not know: links, finalizers.
#include "collector/toggle_references.hpp"

#include <gtest/gtest.h>

#include <map>

#include "collector/graph.hpp"
#include "fake/memory.hpp"

namespace gr::toggle_references_test {

class ToggleReferencesTest : public testing::Test {
  protected:
    void TearDown() override { fake::reset(); }

    void collect() {
        graph_.begin();
        toggles_.for_each_root([&](const void *pointer) { graph_.mark_what(pointer); });
        toggles_.forget_dead(graph_);
        graph_.sweep();
    }

    fake::Graph graph_;
    ToggleReferences toggles_;
};

TEST_F(ToggleReferencesTest, StrongOnesKeepWhatTheyReachAndWeakOnesNothing) {
    void **const strong = graph_.make();
    void **const reached = graph_.make();
    strong[0] = reached;
    void **const weak = graph_.make();
    void **const held = graph_.make();
    graph_.hold(held);
    ASSERT_TRUE(toggles_.add(strong, ToggleStatus::strong));
    ASSERT_TRUE(toggles_.add(weak, ToggleStatus::weak));
    ASSERT_TRUE(toggles_.add(held, ToggleStatus::weak));
    collect();
    EXPECT_TRUE(graph_.is_object(strong) && graph_.is_object(reached));
    EXPECT_FALSE(graph_.is_object(weak));
    EXPECT_EQ(toggles_.size(), 2U);
}

TEST_F(ToggleReferencesTest, BecomeWhatIsAnswered) {
    std::map<void *, ToggleStatus> answers;
    for (const ToggleStatus was : {ToggleStatus::strong, ToggleStatus::weak}) {
        for (const ToggleStatus is : {ToggleStatus::drop, ToggleStatus::strong, ToggleStatus::weak}) {
            void **const object = graph_.make();
            ASSERT_TRUE(toggles_.add(object, was));
            answers[object] = is;
        }
    }
    std::map<void *, int> asked;
    toggles_.ask_about_each([&](void *object) {
        ++asked[object];
        return answers.at(object);
    });
    EXPECT_EQ(asked.size(), answers.size());
    for (const auto &[object, times] : asked) EXPECT_EQ(times, 1);
    EXPECT_EQ(toggles_.size(), 4U);
    collect();
    EXPECT_EQ(toggles_.size(), 2U);
    for (const auto &[object, is] : answers) EXPECT_EQ(graph_.is_object(object), is == ToggleStatus::strong);
}

TEST_F(ToggleReferencesTest, SayThatThereIsNoMemory) {
    fake::fail(fake::Call::map, 0);
    EXPECT_FALSE(toggles_.add(graph_.make(), ToggleStatus::strong));
    EXPECT_EQ(toggles_.size(), 0U);
}

}  // namespace gr::toggle_references_test

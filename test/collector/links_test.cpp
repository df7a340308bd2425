// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: links of one length: their results, what is cleared, what is forgotten.
// Invariant: what is marked is what the test holds.
// Must not know: finalizers.
#include "collector/links.hpp"

#include <gtest/gtest.h>

#include <array>

#include "collector/graph.hpp"
#include "fake/memory.hpp"

namespace gr::links_test {

class LinksTest : public testing::Test {
  protected:
    void TearDown() override { fake::reset(); }

    void collect() {
        graph_.begin();
        links_.clear_dead(graph_);
        links_.forget_dead_cells(graph_);
        graph_.sweep();
    }
    // A cell may hold anything, such as the complement of the object's address.
    static void *disguised(const void *object) {
        return reinterpret_cast<void *>(~reinterpret_cast<std::uintptr_t>(object));
    }

    fake::Graph graph_;
    Links links_;
};

TEST_F(LinksTest, ClearsTheCellOfADeadObjectAndForgetsIt) {
    void **const object = graph_.make();
    void *cell = disguised(object);
    EXPECT_EQ(links_.add(&cell, object), LinkResult::success);
    graph_.hold(object);
    collect();
    EXPECT_EQ(cell, disguised(object));
    EXPECT_EQ(links_.size(), 1U);
    graph_.let_go(object);
    collect();
    EXPECT_EQ(cell, nullptr);
    EXPECT_EQ(links_.size(), 0U);
    EXPECT_FALSE(graph_.is_object(object)) << "a link must not keep its object";
    cell = disguised(object);
    collect();
    EXPECT_EQ(cell, disguised(object)) << "a forgotten cell was written";
}

TEST_F(LinksTest, ClearsEveryCellOfAnObjectAndNoOther) {
    void **const dead = graph_.make();
    void **const live = graph_.make();
    graph_.hold(live);
    std::array<void *, 40> cells{};
    for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i] = i % 2 == 0 ? dead : live;
        EXPECT_EQ(links_.add(&cells[i], cells[i]), LinkResult::success);
    }
    collect();
    for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(cells[i], i % 2 == 0 ? nullptr : live) << i;
    EXPECT_EQ(links_.size(), cells.size() / 2);
}

TEST_F(LinksTest, AnAddedCellBelongsToTheLastObject) {
    void **const first = graph_.make();
    void **const second = graph_.make();
    graph_.hold(second);
    void *cell = second;
    EXPECT_EQ(links_.add(&cell, first), LinkResult::success);
    EXPECT_EQ(links_.add(&cell, second), LinkResult::duplicate);
    EXPECT_EQ(links_.size(), 1U);
    collect();
    EXPECT_EQ(cell, second) << "cleared with the object that it belonged to before";
    graph_.let_go(second);
    collect();
    EXPECT_EQ(cell, nullptr);
}

TEST_F(LinksTest, RemovesOnce) {
    void **const object = graph_.make();
    void *cell = object;
    EXPECT_FALSE(links_.remove(&cell));
    EXPECT_EQ(links_.add(&cell, object), LinkResult::success);
    EXPECT_TRUE(links_.remove(&cell));
    EXPECT_FALSE(links_.remove(&cell));
    collect();
    EXPECT_EQ(cell, object);
}

TEST_F(LinksTest, MovesTheRegistrationAndNotWhatTheCellHolds) {
    void **const object = graph_.make();
    void *from = object;
    void *to = disguised(object);
    EXPECT_EQ(links_.add(&from, object), LinkResult::success);
    EXPECT_EQ(links_.move(&from, &to), LinkResult::success);
    EXPECT_EQ(from, object);
    EXPECT_EQ(to, disguised(object));
    EXPECT_EQ(links_.size(), 1U);
    collect();
    EXPECT_EQ(from, object);
    EXPECT_EQ(to, nullptr);
}

TEST_F(LinksTest, MovesOnlyWhatIsThereToWhereNothingIs) {
    void **const object = graph_.make();
    void **const other = graph_.make();
    void *from = nullptr;
    void *to = nullptr;
    EXPECT_EQ(links_.move(&from, &to), LinkResult::not_found);
    EXPECT_EQ(links_.move(&from, &from), LinkResult::not_found);
    EXPECT_EQ(links_.add(&to, other), LinkResult::success);
    EXPECT_EQ(links_.move(&from, &to), LinkResult::not_found);
    EXPECT_EQ(links_.add(&from, object), LinkResult::success);
    EXPECT_EQ(links_.move(&from, &from), LinkResult::success);
    EXPECT_EQ(links_.move(&from, &to), LinkResult::duplicate);
    EXPECT_EQ(links_.size(), 2U);
    graph_.hold(other);
    from = object;
    to = other;
    collect();
    EXPECT_EQ(from, nullptr) << "moved in spite of the duplicate";
    EXPECT_EQ(to, other);
}

TEST_F(LinksTest, ForgetsCellsInDeadObjectsUnwritten) {
    void **const object = graph_.make();
    void **const holder = graph_.make();
    graph_.hold(object);
    holder[3] = disguised(object);
    void *outside = object;
    EXPECT_EQ(links_.add(&holder[3], object), LinkResult::success);
    EXPECT_EQ(links_.add(&outside, object), LinkResult::success);
    graph_.begin();
    links_.clear_dead(graph_);
    EXPECT_EQ(links_.size(), 2U);
    links_.forget_dead_cells(graph_);
    EXPECT_EQ(holder[3], disguised(object));
    EXPECT_EQ(links_.size(), 1U) << "the cell in no object stays";
    EXPECT_TRUE(links_.remove(&outside));
}

TEST_F(LinksTest, ForgetsCellsInObjectsThatTheProgramHasFreed) {
    void **const object = graph_.make();
    void **const holder = graph_.make();
    graph_.hold(object);
    EXPECT_EQ(links_.add(&holder[3], object), LinkResult::success);
    graph_.free(holder);
    collect();
    EXPECT_EQ(links_.size(), 0U) << "it would be cleared in what is made there next";
}

TEST_F(LinksTest, ACellMayLieInItsOwnObject) {
    void **const object = graph_.make();
    object[2] = object;
    EXPECT_EQ(links_.add(&object[2], object), LinkResult::success);
    graph_.hold(object);
    collect();
    EXPECT_EQ(object[2], object);
    graph_.let_go(object);
    collect();
    EXPECT_EQ(links_.size(), 0U);
    EXPECT_FALSE(graph_.is_object(object));
}

TEST_F(LinksTest, SaysThatThereIsNoMemory) {
    void **const object = graph_.make();
    void *cell = object;
    fake::fail(fake::Call::map, 0);
    EXPECT_EQ(links_.add(&cell, object), LinkResult::no_memory);
    EXPECT_EQ(links_.size(), 0U);
    fake::reset();
    EXPECT_EQ(links_.add(&cell, object), LinkResult::success);
    fake::fail(fake::Call::map, 0);
    EXPECT_EQ(links_.add(&cell, object), LinkResult::duplicate) << "needs none";
}

TEST_F(LinksTest, MovesInAFullTableWithoutMemory) {
    void **const object = graph_.make();
    std::array<void *, 10000> cells{};
    EXPECT_EQ(links_.add(&cells[0], object), LinkResult::success);
    fake::fail(fake::Call::map, 0);
    std::size_t used = 1;
    while (links_.add(&cells[used], object) == LinkResult::success) ++used;
    EXPECT_EQ(links_.move(&cells[0], &cells[used]), LinkResult::success);
    EXPECT_EQ(links_.size(), used);
}

static_assert(static_cast<int>(LinkResult::success) == 0 && static_cast<int>(LinkResult::duplicate) == 1 &&
              static_cast<int>(LinkResult::no_memory) == 2 && static_cast<int>(LinkResult::not_found) == 4);

}  // namespace gr::links_test

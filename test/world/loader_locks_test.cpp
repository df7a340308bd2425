// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is known of the loader's locks while a thread lists libraries.
// Invariant: the answer is the same in every thread.
// Must not know: where the locks lie.
#include "platform/world/loader_locks.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <thread>

#include "platform/world/tasks.hpp"

namespace gr::platform::loader_locks_test {

class LoaderLocksTest : public testing::Test {
  protected:
    LoaderLocksTest() { locks_.initialise(); }

    bool are_held_but_by(std::uint32_t task) const { return locks_.may_be_held_by_other_than(task); }
    bool are_held() const { return are_held_but_by(0); }
    template <class Work>
    static void while_listing(Work work) {
        const auto call = [](dl_phdr_info *, std::size_t, void *context) {
            (*static_cast<Work *>(context))();
            return 1;
        };
        EXPECT_EQ(dl_iterate_phdr(call, &work), 1);
    }

    LoaderLocks locks_;
};

TEST_F(LoaderLocksTest, AreFoundInThisLibc) { EXPECT_TRUE(locks_.are_known()); }

TEST_F(LoaderLocksTest, AreHeldWhileLibrariesAreListed) {
    EXPECT_FALSE(are_held());
    while_listing([&] {
        EXPECT_TRUE(are_held());
        while_listing([&] { EXPECT_TRUE(are_held()); });
        EXPECT_TRUE(are_held());
    });
    EXPECT_FALSE(are_held());
}

TEST_F(LoaderLocksTest, EveryThreadSeesWhoseTheyAre) {
    const std::uint32_t me = task_of_caller();
    while_listing([&] {
        EXPECT_FALSE(are_held_but_by(me));
        bool are_held_there = false;
        bool are_others_there = true;
        std::thread([&] {
            are_held_there = are_held_but_by(task_of_caller());
            are_others_there = are_held_but_by(me);
        }).join();
        EXPECT_TRUE(are_held_there);
        EXPECT_FALSE(are_others_there);
    });
}

TEST_F(LoaderLocksTest, AreFoundByAThreadThatHoldsThem) {
    LoaderLocks found;
    while_listing([&] {
        found.initialise();
        EXPECT_TRUE(found.may_be_held_by_other_than(0));
    });
    EXPECT_TRUE(found.are_known());
    EXPECT_FALSE(found.may_be_held_by_other_than(0));
}

TEST_F(LoaderLocksTest, TheListIsNotWaitedForInVain) {
    while_listing([&] {
        bool is_held_by_other = true;
        std::thread([&] { is_held_by_other = locks_.hold_list(1); }).join();
        EXPECT_FALSE(is_held_by_other);
        EXPECT_TRUE(locks_.hold_list(1)) << "its holder may take it again";
        locks_.let_list_go();
        EXPECT_TRUE(are_held());
    });
    EXPECT_TRUE(locks_.hold_list(1));
    EXPECT_TRUE(are_held());
    locks_.let_list_go();
    EXPECT_FALSE(are_held());
}

TEST(LoaderLocks, AreNotTakenIfTheyAreNotKnown) {
    const LoaderLocks unknown;
    EXPECT_TRUE(unknown.hold_list(0));
    unknown.let_list_go();
}

TEST(LoaderLocks, MayBeHeldIfTheyAreNotKnown) {
    const LoaderLocks unknown;
    EXPECT_FALSE(unknown.are_known());
    EXPECT_TRUE(unknown.may_be_held_by_other_than(task_of_caller()));
}

}  // namespace gr::platform::loader_locks_test

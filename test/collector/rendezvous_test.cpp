// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a rendezvous: which thread waits for which, and until when.
// Invariant: no test depends on time, except that a short time must pass.
// Must not know: what a rendezvous is for.
#include "collector/rendezvous.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace gr::rendezvous_test {

constexpr unsigned kForEver = 1'000'000;  // milliseconds
constexpr unsigned kShort = 1;

class RendezvousTest : public testing::Test {
  protected:
    std::thread attend(unsigned milliseconds) {
        return std::thread([this, milliseconds] {
            rendezvous_.attend(milliseconds);
            has_left_ = true;
        });
    }

    Rendezvous rendezvous_;
    std::atomic<bool> has_left_{false};
};

TEST_F(RendezvousTest, NobodyStaysWhereNobodyAsks) {
    rendezvous_.attend(kForEver);
    EXPECT_FALSE(rendezvous_.is_asked());
    EXPECT_FALSE(rendezvous_.is_attended());
}

TEST_F(RendezvousTest, WhoAttendsStaysUntilHeIsLetGo) {
    rendezvous_.ask();
    EXPECT_TRUE(rendezvous_.is_asked());
    std::thread other = attend(kForEver);
    rendezvous_.wait();
    EXPECT_TRUE(rendezvous_.is_attended());
    EXPECT_FALSE(has_left_);
    rendezvous_.let_go();
    other.join();
    EXPECT_FALSE(rendezvous_.is_attended());
}

TEST_F(RendezvousTest, OneAttends) {
    rendezvous_.ask();
    std::thread other = attend(kForEver);
    rendezvous_.wait();
    rendezvous_.attend(kForEver);  // comes back at once
    EXPECT_TRUE(rendezvous_.is_attended());
    rendezvous_.let_go();
    other.join();
}

TEST_F(RendezvousTest, WhoLeavesEarlyWasNotThereAndMayComeAgain) {
    rendezvous_.ask();
    rendezvous_.attend(kShort);
    EXPECT_FALSE(rendezvous_.is_attended());
    EXPECT_FALSE(rendezvous_.is_asked());
    rendezvous_.wait();  // a thread came
    rendezvous_.attend(kForEver);
    EXPECT_FALSE(rendezvous_.is_attended()) << "without being asked";
    rendezvous_.ask();
    std::thread other = attend(kForEver);
    rendezvous_.wait();
    EXPECT_TRUE(rendezvous_.is_attended());
    rendezvous_.let_go();
    other.join();
}

TEST_F(RendezvousTest, WhoIsHeldStaysWhenTheTimeIsUp) {
    EXPECT_FALSE(rendezvous_.hold()) << "nobody attends";
    std::thread other;
    for (bool is_held = false; !is_held;) {  // the thread may leave before it is held
        rendezvous_.ask();
        other = attend(kShort);
        rendezvous_.wait();
        is_held = rendezvous_.hold();
        if (!is_held) other.join();
    }
    has_left_ = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * kShort));
    EXPECT_TRUE(rendezvous_.is_attended());
    EXPECT_FALSE(has_left_);
    rendezvous_.let_go();
    other.join();
    EXPECT_TRUE(has_left_);
    EXPECT_FALSE(rendezvous_.is_attended());
}

TEST_F(RendezvousTest, WhoAsksIsLetGoToo) {
    rendezvous_.ask();
    std::atomic<bool> waits{false};
    std::thread asking([&] {
        waits = true;
        rendezvous_.wait();
    });
    while (!waits) sched_yield();
    rendezvous_.let_go();
    asking.join();
    EXPECT_FALSE(rendezvous_.is_attended());
}

}  // namespace gr::rendezvous_test

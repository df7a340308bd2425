// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: meetings: which thread waits for which, and until when.
// Invariant: no test depends on time, except that a short time must pass.
// Must not know: what threads meet for.
#include "collector/meeting.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace gr::meeting_test {

constexpr unsigned kForEver = 1'000'000;  // milliseconds
constexpr unsigned kShort = 1;

class MeetingTest : public testing::Test {
  protected:
    std::thread attend(unsigned milliseconds) {
        return std::thread([this, milliseconds] {
            meeting_.attend(milliseconds);
            has_left_ = true;
        });
    }

    Meeting meeting_;
    std::atomic<bool> has_left_{false};
};

TEST_F(MeetingTest, NobodyStaysWhereNobodyAsks) {
    meeting_.attend(kForEver);
    EXPECT_FALSE(meeting_.is_asked());
    EXPECT_FALSE(meeting_.is_attended());
}

TEST_F(MeetingTest, WhoAttendsStaysUntilHeIsLetGo) {
    meeting_.ask();
    EXPECT_TRUE(meeting_.is_asked());
    std::thread other = attend(kForEver);
    meeting_.wait();
    EXPECT_TRUE(meeting_.is_attended());
    EXPECT_FALSE(has_left_);
    meeting_.let_go();
    other.join();
    EXPECT_FALSE(meeting_.is_attended());
}

TEST_F(MeetingTest, OneAttends) {
    meeting_.ask();
    std::thread other = attend(kForEver);
    meeting_.wait();
    meeting_.attend(kForEver);  // comes back at once
    EXPECT_TRUE(meeting_.is_attended());
    meeting_.let_go();
    other.join();
}

TEST_F(MeetingTest, WhoLeavesEarlyWasNotThereAndMayComeAgain) {
    meeting_.ask();
    meeting_.attend(kShort);
    EXPECT_FALSE(meeting_.is_attended());
    EXPECT_FALSE(meeting_.is_asked());
    meeting_.wait();  // a thread came
    meeting_.attend(kForEver);
    EXPECT_FALSE(meeting_.is_attended()) << "without being asked";
    meeting_.ask();
    std::thread other = attend(kForEver);
    meeting_.wait();
    EXPECT_TRUE(meeting_.is_attended());
    meeting_.let_go();
    other.join();
}

TEST_F(MeetingTest, WhoIsHeldStaysWhenTheTimeIsUp) {
    EXPECT_FALSE(meeting_.hold()) << "nobody attends";
    std::thread other;
    for (bool is_held = false; !is_held;) {  // the thread may leave before it is held
        meeting_.ask();
        other = attend(kShort);
        meeting_.wait();
        is_held = meeting_.hold();
        if (!is_held) other.join();
    }
    has_left_ = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * kShort));
    EXPECT_TRUE(meeting_.is_attended());
    EXPECT_FALSE(has_left_);
    meeting_.let_go();
    other.join();
    EXPECT_TRUE(has_left_);
    EXPECT_FALSE(meeting_.is_attended());
}

TEST_F(MeetingTest, WhoAsksIsLetGoToo) {
    meeting_.ask();
    std::atomic<bool> waits{false};
    std::thread asking([&] {
        waits = true;
        meeting_.wait();
    });
    while (!waits) sched_yield();
    meeting_.let_go();
    asking.join();
    EXPECT_FALSE(meeting_.is_attended());
}

}  // namespace gr::meeting_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the profile counts of blocks that come and go; which thread may wait, and what is left for which.
// Invariant: no block is looked at; files go to a folder of the test's own.
// Must not know: how a profile is written.
#include "profile/profile.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "platform/reentry.hpp"

namespace gr::profile_test {

class ProfileTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "granary-profile-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        ASSERT_TRUE(profile_.begin(7, folder_.c_str(), 0));
        generation_ = profile_.start(1);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void note(std::uint64_t n, std::uint64_t size) { profile_.note(address(n), size, nullptr, generation_); }
    bool forget(std::uint64_t n) { return profile_.forget(address(n)); }
    std::uint64_t live() const { return profile_.sites().totals().live.bytes; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
    }

  public:
    static void *address(std::uint64_t n) { return reinterpret_cast<void *>(0x100000 + n * 64); }

  protected:
    std::string folder_;
    Profile profile_;
    std::uint32_t generation_ = 0;
};

TEST_F(ProfileTest, CountsWhatComesAndGoes) {
    for (std::uint64_t n = 0; n < 100; ++n) note(n, 1000);
    EXPECT_EQ(live(), 100000U);
    EXPECT_TRUE(forget(3));
    EXPECT_FALSE(forget(3));
    EXPECT_FALSE(forget(200));
    EXPECT_EQ(live(), 99000U);
    EXPECT_EQ(profile_.sites().totals().allocated.bytes, 100000U);
    EXPECT_EQ(profile_.sites().totals().peak.bytes, 100000U);
    EXPECT_GT(profile_.sites().totals().count, 1U);
}

TEST_F(ProfileTest, WhatAnInterruptedHeapsHandlerFreesIsCountedLater) {
    note(1, 1000);
    note(2, 500);
    {
        const platform::Reentry entry;
        EXPECT_TRUE(forget(1));
        EXPECT_EQ(live(), 1500U);
    }
    note(1, 70);  // the same block again
    EXPECT_EQ(live(), 570U);
    EXPECT_TRUE(forget(1));
    EXPECT_TRUE(forget(2));
    EXPECT_EQ(live(), 0U);
}

TEST_F(ProfileTest, WhoHoldsTheLockIsNotWaitedFor) {
    note(1, 1000);
    profile_.lock();
    note(2, 500);  // as a handler on this thread would
    EXPECT_EQ(profile_.missed_cell()->load(), 1U);
    EXPECT_TRUE(forget(1));
    EXPECT_EQ(profile_.dump(nullptr), -EBUSY);
    profile_.dump_soon();
    EXPECT_EQ(files(), 0U);
    profile_.unlock();
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(files(), 1U);
    profile_.dump_soon();
    EXPECT_EQ(files(), 2U);
    EXPECT_EQ(profile_.dump(nullptr), 0);
    EXPECT_EQ(files(), 3U);
}

TEST_F(ProfileTest, AForkWithinAForkLocksOnce) {
    profile_.lock();
    profile_.lock();
    profile_.unlock();
    EXPECT_EQ(profile_.dump(nullptr), -EBUSY);
    profile_.unlock();
    EXPECT_EQ(profile_.dump(nullptr), 0);
    {
        const platform::Reentry entry;
        profile_.lock();  // a handler's that interrupted the heaps: nothing is locked
        EXPECT_EQ(profile_.dump(nullptr), -EBUSY);
        profile_.unlock();
    }
    EXPECT_EQ(profile_.dump(nullptr), 0);
}

TEST_F(ProfileTest, AFileThatCannotBeWrittenLeavesNothing) {
    EXPECT_EQ(profile_.dump("/nowhere/at/all"), -ENOENT);
    EXPECT_EQ(profile_.dump(folder_.c_str()), -EISDIR);
    EXPECT_EQ(profile_.dump((folder_ + "/" + std::string(5000, 'x')).c_str()), -ENAMETOOLONG);
    EXPECT_EQ(files(), 0U);
    const std::filesystem::path folder(folder_);
    for (const auto &other : std::filesystem::directory_iterator(folder.parent_path()))
        EXPECT_FALSE(other.path().filename().string().starts_with(folder.filename().string() + '.')) << other.path();
    const std::string there = folder_ + "/there";
    std::ofstream(there) << "old";
    EXPECT_EQ(profile_.dump(there.c_str()), 0);
    EXPECT_EQ(std::ifstream(there).get(), 0x1f);
    EXPECT_EQ(files(), 1U);
}

TEST_F(ProfileTest, ThoseWhoWriteOneFileAtOnceDoNotMeet) {
    constexpr unsigned kTimes = 50;
    note(1, 1000);
    const std::string there = folder_ + "/there";
    std::atomic<unsigned> written{0};
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (unsigned i = 0; i < kTimes; ++i) written += profile_.dump(there.c_str()) == 0 ? 1 : 0;
            });
        }
    }
    EXPECT_EQ(written, 4 * kTimes);
    EXPECT_EQ(files(), 1U);
}

TEST_F(ProfileTest, ASampleThatIsPutBackIsCountedOut) {
    note(1, 1000);
    Sample sample;
    ASSERT_TRUE(profile_.take_out(address(1), &sample));
    EXPECT_FALSE(forget(1));
    profile_.put_back(address(2), sample);
    EXPECT_EQ(live(), 1000U);
    EXPECT_TRUE(forget(2));
    EXPECT_EQ(live(), 0U);
}

TEST_F(ProfileTest, StoppedItCountsOnlyWhatGoes) {
    note(1, 1000);
    note(2, 500);
    profile_.stop();
    note(3, 70);
    EXPECT_TRUE(forget(1));
    EXPECT_FALSE(forget(3));
    EXPECT_EQ(live(), 500U);
    EXPECT_EQ(profile_.start(0), generation_);
    EXPECT_EQ(profile_.mean(), 1U);
    note(3, 70);
    EXPECT_EQ(live(), 570U);
    EXPECT_EQ(profile_.sites().totals().allocated.bytes, 1570U);
}

TEST_F(ProfileTest, ResetItForgetsWhatWasAndCountsWhatComes) {
    note(1, 1000);
    note(2, 500);
    Sample resized;
    ASSERT_TRUE(profile_.take_out(address(2), &resized));
    {
        const platform::Reentry entry;
        note(3, 70);
        EXPECT_TRUE(forget(3));  // put aside
    }
    const std::uint32_t before = generation_;
    generation_ = profile_.reset();
    EXPECT_NE(generation_, before);
    EXPECT_EQ(live(), 0U);
    EXPECT_FALSE(forget(1));
    profile_.put_back(address(4), resized);
    EXPECT_TRUE(forget(4));                         // the table has it again, the sums have not
    profile_.note(address(5), 7, nullptr, before);  // it was decided before
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(profile_.sites().totals().allocated.bytes, 0U);
    note(1, 30);
    note(6, 4);
    EXPECT_TRUE(forget(6));
    EXPECT_EQ(live(), 30U);
    EXPECT_EQ(profile_.sites().totals().allocated.bytes, 34U);
    EXPECT_EQ(profile_.sites().totals().peak.bytes, 34U);
}

TEST_F(ProfileTest, WithAnotherMeanItBeginsAnew) {
    note(1, 1000);
    EXPECT_EQ(profile_.start(1), generation_);
    EXPECT_EQ(live(), 1000U);
    generation_ = profile_.start(1 << 20);
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(profile_.mean(), 1U << 20);
    note(2, 1000);  // stands for more
    EXPECT_GT(live(), 1U << 19);
    EXPECT_FALSE(forget(1));
    EXPECT_TRUE(forget(2));
    EXPECT_EQ(live(), 0U);
    profile_.stop();
    EXPECT_EQ(profile_.reset(), 0U);
}

TEST_F(ProfileTest, AResetLeavesRoomForNewSamples) {
    for (std::uint64_t n = 0; n < 2 * kMostSamples; ++n) note(n, 1);
    EXPECT_GT(profile_.missed_cell()->load(), 0U);
    generation_ = profile_.reset();
    for (std::uint64_t n = 0; n < 1000; ++n) note(n, 1);
    EXPECT_EQ(profile_.missed_cell()->load(), 0U);
    EXPECT_EQ(live(), 1000U);
}

TEST(ProfileAtIntervals, IsWrittenEachTimeSoManyBytesWereAllocated) {
    std::string folder = (std::filesystem::temp_directory_path() / "granary-profile-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
    Profile profile;
    ASSERT_TRUE(profile.begin(7, folder.c_str(), 1000));
    std::uint32_t generation = profile.start(1);
    const auto allocate = [&](std::uint64_t size) {
        profile.note(ProfileTest::address(1), size, nullptr, generation);
        EXPECT_TRUE(profile.forget(ProfileTest::address(1)));
    };
    allocate(999);
    EXPECT_EQ(files(), 0);
    allocate(1);
    EXPECT_EQ(files(), 1);
    allocate(900);
    EXPECT_EQ(files(), 1);
    allocate(5000);  // once for several
    EXPECT_EQ(files(), 2);
    allocate(99);
    EXPECT_EQ(files(), 2);
    allocate(1);
    EXPECT_EQ(files(), 3);
    generation = profile.reset();
    allocate(999);
    EXPECT_EQ(files(), 3);
    allocate(1);
    EXPECT_EQ(files(), 4);
    std::filesystem::remove_all(folder);
}

}  // namespace gr::profile_test

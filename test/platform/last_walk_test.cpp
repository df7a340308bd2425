// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which steps of a walk repeat the last walk's, and that the frames are those of a walk that makes all steps itself.
// Invariant: the stacks are made: functions have frames of different sizes, and some keep their caller's frame pointer.
// Must not know: how rules are found.
#include "platform/unwind/last_walk.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace gr::platform::last_walk_test {

constexpr std::size_t kWords = std::size_t{1} << 16;
constexpr std::size_t kNoEnd = SIZE_MAX;

class LastWalkTest : public testing::Test {
  protected:
    // Code of function f has the numbers from f * kPlaces on, so that it is called from different places.
    static constexpr std::uintptr_t kPlaces = 8;
    static std::size_t frame_words(std::uintptr_t code) { return 2 + code / kPlaces % 5; }
    static bool keeps_frame_pointer(std::uintptr_t code) { return code / kPlaces % 3 == 0; }

    std::uintptr_t address(std::size_t word) const { return reinterpret_cast<std::uintptr_t>(&words_[word]); }
    std::size_t end_of(const Frame &frame) const {
        return (frame.stack - address(0)) / sizeof(std::uintptr_t) + frame_words(frame.code);
    }
    // The word above the frame's end is the caller's.
    LastWalk::Read read_of(const Frame &frame) const {
        const std::size_t end = end_of(frame);
        return {address(end - 1), keeps_frame_pointer(frame.code) ? address(end - 2) : 0};
    }
    bool step(Frame *frame) const {
        const std::size_t end = end_of(*frame);
        const std::uintptr_t code = words_[end - 1];
        if (code == 0) return false;
        if (keeps_frame_pointer(frame->code)) frame->frame_pointer = words_[end - 2];
        *frame = {code, address(end), frame->frame_pointer};
        return true;
    }

    void call(std::uintptr_t code) {
        const std::size_t end = (frame_.stack - address(0)) / sizeof(std::uintptr_t);
        words_[end - 1] = frame_.code;
        words_[end - 2] = frame_.frame_pointer;
        frame_ = {code, address(end - frame_words(code)),
                  keeps_frame_pointer(code) ? address(end) : frame_.frame_pointer};
    }
    void come_back() { step(&frame_); }
    // The innermost function goes on to another place in itself.
    void go_on(std::uintptr_t place) { frame_.code = frame_.code / kPlaces * kPlaces + place % kPlaces; }

    std::vector<Frame> true_frames(std::size_t most) const {
        std::vector<Frame> all;
        for (Frame frame = frame_; all.size() < most && step(&frame);) all.push_back(frame);
        return all;
    }
    std::vector<Frame> walk(std::size_t most = kNoEnd) {
        std::vector<Frame> all;
        made_ = 0;
        LastWalk::Walk walk(last_.get());
        Frame frame = frame_;
        const auto pass = [&](const Frame &one) {
            all.push_back(one);
            return all.size() < most;
        };
        while (walk.repeat(&frame, pass)) {
            const Frame from = frame;
            if (!step(&frame)) break;
            ++made_;
            walk.made(from, read_of(from));
            if (!pass(frame)) break;
        }
        walk.end(frame);
        return all;
    }

    std::vector<std::uintptr_t> words_ = std::vector<std::uintptr_t>(kWords);
    std::unique_ptr<LastWalk> last_ = std::make_unique<LastWalk>();
    Frame frame_{kPlaces, address(kWords - 4), 0};
    std::size_t made_ = 0;  // steps that the last walk did not have
};

TEST_F(LastWalkTest, AFirstWalkMakesAllSteps) {
    for (std::uintptr_t code = 10; code < 60; ++code) call(code);
    EXPECT_EQ(walk(), true_frames(kNoEnd));
    EXPECT_EQ(made_, 50U);
}

TEST_F(LastWalkTest, TheSameStackIsRepeatedWhole) {
    for (std::uintptr_t code = 10; code < 60; ++code) call(code);
    walk();
    EXPECT_EQ(walk(), true_frames(kNoEnd));
    EXPECT_EQ(made_, 0U);
}

TEST_F(LastWalkTest, OnlyTheInnermostStepsThatDifferAreMade) {
    for (std::uintptr_t code = 10; code < 60; ++code) call(code);
    walk();
    come_back();
    come_back();
    go_on(3);
    call(100);
    call(200);
    call(300);
    EXPECT_EQ(walk(), true_frames(kNoEnd));
    EXPECT_EQ(made_, 4U);
    walk();
    EXPECT_EQ(made_, 0U);
}

TEST_F(LastWalkTest, AnotherCallerOfTheSameFunctionIsSeen) {
    for (std::uintptr_t code = 10; code < 60; ++code) call(code);
    Frame caller = frame_;
    for (unsigned i = 0; i < 20; ++i) step(&caller);
    walk();
    words_[end_of(caller) - 1] ^= 1;  // another place in the same function
    EXPECT_EQ(walk(), true_frames(kNoEnd));
    EXPECT_EQ(made_, 2U);
}

TEST_F(LastWalkTest, AnotherFramePointerIsSeen) {
    for (unsigned i = 0; i < 20; ++i) call(3 * kPlaces);
    Frame caller = frame_;
    for (unsigned i = 0; i < 10; ++i) step(&caller);
    walk();
    words_[end_of(caller) - 2] += sizeof(std::uintptr_t);
    EXPECT_EQ(walk(), true_frames(kNoEnd));
    EXPECT_GE(made_, 1U);
}

TEST_F(LastWalkTest, WhatIsForgottenIsMadeAnew) {
    for (std::uintptr_t code = 10; code < 60; ++code) call(code);
    walk();
    last_->forget();
    EXPECT_EQ(walk(), true_frames(kNoEnd));
    EXPECT_EQ(made_, 50U);
}

TEST_F(LastWalkTest, AStepThatMustNotBeRepeatedIsMadeEachTime) {
    for (std::uintptr_t code = 10; code < 20; ++code) call(code);
    for (unsigned round = 0; round < 2; ++round) {
        LastWalk::Walk walk(last_.get());
        Frame frame = frame_;
        unsigned repeated = 0;
        while (walk.repeat(&frame, [&](const Frame &) { return ++repeated != 0; })) {
            const Frame from = frame;
            if (!step(&frame)) break;
            walk.made(from, {});
        }
        walk.end(frame);
        EXPECT_EQ(repeated, 0U);
    }
}

// A recursion has the same code at each frame, so that only the order of the steps tells them apart.
TEST_F(LastWalkTest, StepsWithoutRoomAreNotLeftOut) {
    constexpr std::uintptr_t kRecursion = 10;
    for (unsigned i = 0; i < 100; ++i) call(kRecursion);
    walk();
    for (unsigned i = 0; i < 2 * LastWalk::kFrames; ++i) call(kRecursion);
    walk();
    EXPECT_EQ(walk(), true_frames(kNoEnd));
}

// More frames than are remembered, walks that end early, and calls and returns between them.
TEST_F(LastWalkTest, FramesAreTrueHoweverTheStackChanges) {
    std::mt19937 random(1);
    std::size_t depth = 0;
    std::size_t walked = 0;
    std::size_t made = 0;
    for (unsigned round = 0; round < 3000; ++round) {
        const bool grows = depth < 8 || (depth < 3 * LastWalk::kFrames && random() % 2 == 0);
        for (std::size_t i = random() % (round % 50 == 0 ? 2000 : 8); i != 0; --i) {
            if (grows && depth < 4 * LastWalk::kFrames) {
                call(kPlaces + random() % 100);
                ++depth;
            } else if (!grows && depth > 1) {
                come_back();
                --depth;
            }
        }
        go_on(random());
        const std::size_t most = random() % 4 == 0 ? 1 + random() % 64 : kNoEnd;
        const std::vector<Frame> told = walk(most);
        ASSERT_EQ(told, true_frames(most)) << "round " << round;
        if (depth >= LastWalk::kFrames) continue;
        walked += told.size();
        made += made_;
    }
    EXPECT_LT(made, walked / 2);
}

}  // namespace gr::platform::last_walk_test

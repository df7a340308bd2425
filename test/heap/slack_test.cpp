// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far free memory has grown since there was least of it, and what a sweep is expected to give back.
// Invariant: no kernel, no heap: numbers only.
// Must not know: how memory is given back.
#include "heap/slack.hpp"

#include <gtest/gtest.h>

namespace gr {
namespace {

TEST(Slack, GrowsFromTheLeastSinceTheLastSweep) {
    Slack slack;
    slack.add(1000);
    EXPECT_EQ(slack.growth(), 1000U);
    slack.was_swept(slack.growth(), 0);
    EXPECT_EQ(slack.growth(), 0U) << "what a sweep leaves cannot be given back";
    slack.add(100);
    EXPECT_EQ(slack.growth(), 100U);
    slack.subtract(500);
    EXPECT_EQ(slack.growth(), 0U);
    slack.add(30);
    EXPECT_EQ(slack.growth(), 30U) << "what became free since there was least is new";
    EXPECT_EQ(slack.bytes(), 630U);
}

TEST(Slack, ExpectsWhatTheLastSweepFound) {
    Slack slack;
    slack.add(16000);
    EXPECT_EQ(slack.expected(), 16000U) << "nothing is known yet";
    slack.was_swept(16000, 4 * 16000);
    slack.add(16000);
    EXPECT_EQ(slack.expected(), 4 * 16000U);
    slack.was_swept(16000, 12000);
    slack.add(16000);
    EXPECT_EQ(slack.expected(), 12000U);
    slack.was_swept(16000, 0);
    slack.add(16000);
    EXPECT_EQ(slack.expected(), 8000U) << "what is never looked for is never found";
    slack.was_swept(16000, 1000 * 16000);
    slack.add(16000);
    EXPECT_EQ(slack.expected(), 16 * 16000U);
    slack.was_swept(0, 5000);
    slack.add(16000);
    EXPECT_EQ(slack.expected(), 16000U) << "nothing was learnt";
}

}  // namespace
}  // namespace gr

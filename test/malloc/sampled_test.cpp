// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when requests are counted: that it may begin, stop and begin anew at any time, and what is refused meanwhile.
// Invariant: the tests share the process's one profile, which lives as long as the process; so they are one test.
// Must not know: the C library's names; what is done with samples.
#include "malloc/sampled.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "fake/memory.hpp"
#include "platform/reentry.hpp"

namespace gr::sampled_test {

constexpr const char *kFunction = "test";

void *allocate(std::size_t size) { return sampled.allocate(size, 1, nullptr); }
void free(void *p) { sampled.free(kFunction, p); }
std::uint64_t live() { return sampled.profile().sites().totals().live.bytes; }
std::uint64_t allocated() { return sampled.profile().sites().totals().allocated.bytes; }

void refuses_before_it_is_opened() {
    EXPECT_EQ(sampled.start(1).error, ENOTSUP);
    EXPECT_EQ(sampled.stop(), ENOTSUP);
    EXPECT_EQ(sampled.reset(), ENOTSUP);
    EXPECT_FALSE(sampled.is_on() || sampled.is_counting());
    sampled.open();
    EXPECT_EQ(sampled.start(kProfileMeanMost + 1).error, EINVAL);
    const platform::Reentry entry;
    EXPECT_EQ(sampled.start(1).error, EBUSY);
}

// Each attempt gets a little farther, and none leaves anything behind but what the next one needs.
void goes_on_where_memory_was_missing() {
    ASSERT_TRUE(instance.ensure_started());
    fake::fail(fake::Call::reserve, 0, 1);
    EXPECT_EQ(sampled.start(1).error, ENOMEM);
    unsigned refused = 0;
    for (;; ++refused) {
        fake::fail(fake::Call::map, 1, 1);
        const Sampled::Refusal refusal = sampled.start(1);
        if (refusal.error == 0) break;
        EXPECT_EQ(refusal.error, ENOMEM);
        EXPECT_NE(refusal.why, nullptr);
        EXPECT_FALSE(sampled.is_on() || sampled.is_counting());
        ASSERT_LT(refused, 10U);
    }
    fake::reset();
    EXPECT_TRUE(sampled.is_on() && sampled.is_counting());
    EXPECT_EQ(instance.companion(), &sampled.beside());
}

void counts_until_it_is_stopped() {
    void *const small = allocate(100);
    void *const large = allocate(200000);
    EXPECT_TRUE(sampled.contains(small));
    EXPECT_FALSE(sampled.contains(large));
    EXPECT_EQ(live(), 200100U);
    EXPECT_EQ(sampled.stop(), 0);
    EXPECT_TRUE(sampled.is_on());
    EXPECT_FALSE(sampled.is_counting());
    void *const uncounted = allocate(100);
    EXPECT_FALSE(sampled.contains(uncounted));
    free(uncounted);
    free(small);
    EXPECT_EQ(live(), 200000U);
    void *const grown = sampled.resize(kFunction, large, 300000, nullptr);
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(sampled.start(0).error, 0);
    EXPECT_EQ(sampled.profile().mean(), 1U);
    free(grown);
    free(allocate(7));
    EXPECT_EQ(live(), 0U);
    EXPECT_EQ(allocated(), 200107U);
}

void begins_anew() {
    void *const before = allocate(100);
    void *const large_before = allocate(100000);
    EXPECT_EQ(sampled.reset(), 0);
    EXPECT_EQ(allocated(), 0U);
    free(before);
    free(large_before);
    void *const after = allocate(50);
    EXPECT_EQ(live(), 50U);
    // By another mean a block of few bytes is hardly ever sampled: what the thread has drawn before does not hold.
    EXPECT_EQ(sampled.start(kProfileMeanMost).error, 0);
    EXPECT_EQ(allocated(), 0U);
    for (unsigned i = 0; i < 1000; ++i) free(allocate(10));
    EXPECT_EQ(allocated(), 0U);
    EXPECT_EQ(sampled.start(1).error, 0);
    void *const sample = allocate(10);
    EXPECT_EQ(live(), 10U);
    free(sample);
    free(after);
    EXPECT_EQ(live(), 0U);
}

void waits_for_nobody() {
    {
        const platform::Reentry entry;  // a handler that interrupted the heaps
        EXPECT_EQ(sampled.start(0).error, EBUSY);
        EXPECT_EQ(sampled.stop(), EBUSY);
        EXPECT_EQ(sampled.reset(), EBUSY);
    }
    // A thread that forks holds the locks of the profile, and may fork again inside that.
    sampled.lock();
    EXPECT_EQ(sampled.stop(), EBUSY);
    sampled.lock();
    sampled.unlock();
    EXPECT_EQ(sampled.start(0).error, EBUSY);
    sampled.unlock();
    EXPECT_EQ(sampled.stop(), 0);
    sampled.profile().lock();  // a handler that interrupted its holder
    EXPECT_EQ(sampled.reset(), EBUSY);
    sampled.profile().unlock();
    EXPECT_EQ(sampled.reset(), 0);
}

TEST(Sampled, BeginsStopsAndBeginsAnew) {
    fake::reset();
    refuses_before_it_is_opened();
    goes_on_where_memory_was_missing();
    if (HasFatalFailure()) return;
    counts_until_it_is_stopped();
    begins_anew();
    waits_for_nobody();
    EXPECT_EQ(instance.first_fault(), nullptr);
    EXPECT_EQ(sampled.beside().first_fault(), nullptr);
}

}  // namespace gr::sampled_test

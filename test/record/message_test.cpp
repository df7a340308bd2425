// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the queue in which the recorder's threads leave messages for the one that writes traces.
// Invariant: no test waits for a time to be over.
// Must not know: what becomes of messages.
#include "commands/record/message.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <semaphore>
#include <thread>
#include <variant>

namespace gr::tool::message_test {

Records records(std::size_t count) {
    Records some;
    some.records.resize(count);
    return some;
}

TEST(MessageQueue, KeepsItsOrderAndEnds) {
    MessageQueue queue;
    queue.put(records(1));
    queue.put(ThreadGone{});
    queue.put(records(2));
    queue.end();
    EXPECT_EQ(std::get<Records>(queue.take()).records.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<ThreadGone>(queue.take()));
    EXPECT_EQ(std::get<Records>(queue.take()).records.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<Quit>(queue.take()));
}

// A sleeper that nothing wakes hangs.
TEST(MessageQueue, ManyRecordsWakeAndFewAreTakenWithTheNextMessage) {
    MessageQueue queue;
    std::binary_semaphore are_taken{0};
    std::thread taker([&] {
        EXPECT_EQ(std::get<Records>(queue.take()).records.size(), 20000U);
        are_taken.release();
        EXPECT_EQ(std::get<Records>(queue.take()).records.size(), 1U);
        EXPECT_TRUE(std::holds_alternative<ThreadGone>(queue.take()));
    });
    queue.put(records(20000));
    are_taken.acquire();
    queue.put(records(1));
    queue.put(ThreadGone{});
    taker.join();
}

}  // namespace gr::tool::message_test

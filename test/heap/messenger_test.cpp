// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the mailboxes between heaps: which heap gets a message, where its blocks end up, and what no message carries.
// Invariant: every block that was handed over is in a message, a magazine or a bitmap.
// Must not know: when a magazine is flushed.
#include "heap/messenger.hpp"

#include "heap/parts.hpp"

namespace gr::messenger_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);

class MessengerTest : public testing::Test {
  protected:
    explicit MessengerTest(const fake::PartsSetup &setup = {}) : parts_(setup) {}

    std::size_t send(OwnerIndex from, std::span<void *const> blocks) {
        std::vector<void *> sent(blocks.begin(), blocks.end());
        std::size_t bytes = 0;
        parts_.holding(from, [&] { bytes = parts_.messenger.send(from, sent); });
        return bytes;
    }
    std::size_t in_messages_of(OwnerIndex sender) const { return parts_.in_messages_of(sender); }

    // Blocks in use of a superblock that the global heap owns.
    std::vector<void *> take_global(ClassIndex c = kClass) {
        const std::uint32_t half = shape_of(c).blocks / 2;
        std::vector<std::vector<void *>> held;
        for (unsigned i = 0; i < 2 * kSlackSuperblocks + 1; ++i) held.push_back(parts_.take_all(kHeapA, c));
        for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, half);
        std::vector<void *> rest;
        for (const auto &blocks : held) {
            const bool global = !is_heap(owner_of(parts_.superblock_of(blocks[0])));
            if (global) rest.assign(blocks.begin() + half, blocks.begin() + half + 5);
        }
        EXPECT_EQ(rest.size(), 5U) << "none went to the global heap";
        return rest;
    }

    fake::Parts parts_;
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(MessengerTest, BlocksWaitInMessagesUntilTheirHeapReadsThem) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::uint32_t count = 2 * Message::kBlocks + 3;
    send(kHeapB, {blocks.data(), count});
    EXPECT_EQ(in_messages_of(kHeapB), count);
    EXPECT_TRUE(parts_.owners.owner(kHeapA).inbox.has_any());
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), count * shape_of(kClass).size);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, 0U) << "no bit is touched";

    // Those for which the magazine has room, the others to the bitmap.
    parts_.holding(kHeapA, [&] {
        ASSERT_TRUE(parts_.capacities.grow(kHeapA, kClass));
        parts_.messenger.receive(kHeapA);
    });
    const std::uint32_t room = parts_.owners.heap(kHeapA).magazines.capacity(kClass);
    EXPECT_EQ(parts_.in_magazine(kHeapA, magazine_of(kClass)), room);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, count - room);
    EXPECT_EQ(in_messages_of(kHeapB), 0U) << "read messages are blank";
}

TEST_F(MessengerTest, AMessageMayHoldSeveralClassesOfWhichSomeHaveRoom) {
    constexpr ClassIndex kOther = class_of(512);
    constexpr ClassIndex kNone = class_of(1024);
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> others = parts_.take_all(kHeapA, kOther);
    const std::vector<void *> none = parts_.take_all(kHeapA, kNone);
    parts_.holding(kHeapA, [&] {
        ASSERT_TRUE(parts_.capacities.grow(kHeapA, kClass));
        ASSERT_TRUE(parts_.capacities.grow(kHeapA, kOther));
    });
    std::vector<void *> mixed;
    for (std::size_t i = 0; i < 4; ++i) mixed.insert(mixed.end(), {none[i], blocks[i], others[i]});
    send(kHeapB, mixed);
    EXPECT_EQ(in_messages_of(kHeapB), mixed.size());
    parts_.holding(kHeapA, [&] { parts_.messenger.receive(kHeapA); });
    EXPECT_EQ(parts_.in_magazine(kHeapA, magazine_of(kClass)), 4U);
    EXPECT_EQ(parts_.in_magazine(kHeapA, magazine_of(kOther)), 4U);
    EXPECT_EQ(parts_.superblock_of(none[0])->free_count, 4U);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, 0U);
    for (const void *p : {none[0], none[3]}) EXPECT_TRUE(parts_.is_free(p));
}

// Rule 6: it has no slow path of its own, and its lock is free.
TEST_F(MessengerTest, AnIdleOwnerIsDrainedWhenTooMuchWaitsInMessages) {
    constexpr ClassIndex kLarge = class_of(8192);
    std::vector<void *> blocks;
    while (blocks.size() * shape_of(kLarge).size <= kRemoteThreshold) {
        const std::vector<void *> more = parts_.take_all(kHeapA, kLarge);
        blocks.insert(blocks.end(), more.begin(), more.end());
    }
    const std::size_t most = kRemoteThreshold / shape_of(kLarge).size;
    send(kHeapB, {blocks.data(), most});
    EXPECT_TRUE(parts_.owners.owner(kHeapA).inbox.has_any()) << "so much may wait";
    EXPECT_EQ(in_messages_of(kHeapB), most);
    send(kHeapB, {&blocks[most], 1});
    EXPECT_FALSE(parts_.owners.owner(kHeapA).inbox.has_any());
    EXPECT_EQ(in_messages_of(kHeapB), 0U);
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), 0U);
}

TEST_F(MessengerTest, TheGlobalHeapGetsNoMessages) {
    const std::vector<void *> rest = take_global();
    send(kHeapB, rest);
    EXPECT_EQ(in_messages_of(kHeapB), 0U);
    for (const void *p : rest) EXPECT_TRUE(parts_.is_free(p));
}

// Owner by owner, whatever the order in which they were freed (counted.events: each lock is taken once).
TEST_F(MessengerTest, BlocksOfSeveralBinsAndOfHeapsMayComeInTurn) {
    constexpr ClassIndex kOther = class_of(512);
    const std::vector<void *> global = take_global();
    const std::vector<void *> other_global = take_global(kOther);
    const std::vector<void *> own = parts_.take_all(kHeapA, kClass);
    std::vector<void *> mixed;
    for (std::size_t i = 0; i < 5; ++i) mixed.insert(mixed.end(), {global[i], own[i], other_global[i]});
    EXPECT_EQ(send(kHeapB, mixed), 5 * (2 * shape_of(kClass).size + shape_of(kOther).size));
    EXPECT_EQ(in_messages_of(kHeapB), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_TRUE(parts_.is_free(global[i])) << i;
        EXPECT_TRUE(parts_.is_free(other_global[i])) << i;
        EXPECT_FALSE(parts_.is_free(own[i])) << i;
    }
}

TEST_F(MessengerTest, WithoutABlankMessageBitsAreSetAndTheOwnerIsToldOfBoth) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> slow = parts_.take_all(owner_of_heap(2), kClass);
    std::vector<Message *> messages;
    while (Message *const message = parts_.owners.outbox(kHeapB).blank()) {
        message->begin(owner_of_heap(2), slow[messages.size()]);
        messages.push_back(message);
    }
    ASSERT_EQ(messages.size(), kMessages);
    parts_.hold(kHeapA);
    send(kHeapB, {blocks.data(), 4});
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    EXPECT_FALSE(parts_.owners.owner(kHeapA).inbox.has_any());
    EXPECT_TRUE(parts_.owners.owner(kHeapA).pending.has_any());
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), 4 * shape_of(kClass).size);
    parts_.let_go(kHeapA);
    EXPECT_EQ(s->free_count, 4U);
    for (Message *message : messages) parts_.owners.owner(owner_of_heap(2)).inbox.push(message);
    send(kHeapB, {&blocks[4], 4});
    EXPECT_EQ(parts_.superblock_of(slow[0])->free_count, kMessages) << "the slowest's messages were read for it";
    EXPECT_EQ(in_messages_of(kHeapB), 4U);
    EXPECT_TRUE(parts_.owners.outbox(kHeapB).is_asleep(owner_of_heap(2)));
}

TEST_F(MessengerTest, WhoSleepsGetsItsBlocksWithoutMessagesUntilItIsUsedAgain) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    Outbox &outbox = parts_.owners.outbox(kHeapB);
    outbox.found_asleep(kHeapA, parts_.owners.heap(kHeapA).uses.load());
    send(kHeapB, {blocks.data(), 4});
    EXPECT_EQ(in_messages_of(kHeapB), 0U);
    EXPECT_EQ(s->free_count, 4U);
    EXPECT_TRUE(outbox.is_asleep(kHeapA));
    parts_.owners.heap(kHeapA).note_use();
    send(kHeapB, {&blocks[4], 4});
    EXPECT_EQ(in_messages_of(kHeapB), 4U);
    EXPECT_EQ(s->free_count, 4U);
    EXPECT_FALSE(outbox.is_asleep(kHeapA));
}

TEST_F(MessengerTest, WhoseLockIsTakenIsAwake) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    Outbox &outbox = parts_.owners.outbox(kHeapB);
    outbox.found_asleep(kHeapA, parts_.owners.heap(kHeapA).uses.load());
    parts_.hold(kHeapA);
    send(kHeapB, {blocks.data(), 4});
    EXPECT_EQ(in_messages_of(kHeapB), 4U);
    EXPECT_FALSE(outbox.is_asleep(kHeapA));
    parts_.let_go(kHeapA);
}

TEST_F(MessengerTest, ItTellsTheBytesWhicheverWayTheyWent) {
    const std::size_t size = shape_of(kClass).size;
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    EXPECT_EQ(send(kHeapB, {blocks.data(), 4}), 4 * size) << "by message";
    parts_.owners.outbox(kHeapB).found_asleep(kHeapA, parts_.owners.heap(kHeapA).uses.load());
    EXPECT_EQ(send(kHeapB, {&blocks[4], 4}), 4 * size) << "to a sleeper";
    parts_.owners.heap(kHeapA).note_use();
    EXPECT_EQ(send(kHeapB, {&blocks[8], 4}), 4 * size) << "it awoke";
}

// While one heap's lock is held for it, messages to others go their way, and the other way round.
TEST_F(MessengerTest, BlocksOfSleepersAndOthersMayComeInTurn) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> others = parts_.take_all(owner_of_heap(2), kClass);
    parts_.owners.outbox(kHeapB).found_asleep(kHeapA, parts_.owners.heap(kHeapA).uses.load());
    std::vector<void *> mixed;
    for (std::size_t i = 0; i < 5; ++i) mixed.insert(mixed.end(), {blocks[i], others[i]});
    send(kHeapB, mixed);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, 5U);
    EXPECT_EQ(in_messages_of(kHeapB), 5U);
}

// Between the writing and the reading of a message.
TEST_F(MessengerTest, WhatWentToAnotherHeapMeanwhileIsPassedOn) {
    const OwnerIndex third = owner_of_heap(2);
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    send(kHeapB, {blocks.data(), 3});
    parts_.hold(kHeapA);  // else it is drained when the superblock has gone
    parts_.returns.give_back(kHeapA, &blocks[3], 1);
    ASSERT_TRUE(parts_.owners.try_lock(third));
    ASSERT_EQ(parts_.ownership.take_from(kHeapA, third, kClass), s);
    parts_.remote.unlock_and_settle(third);
    ASSERT_TRUE(parts_.capacities.grow(kHeapA, kClass));
    parts_.messenger.receive(kHeapA);
    EXPECT_EQ(parts_.in_magazine(kHeapA, magazine_of(kClass)), 0U);
    EXPECT_EQ(parts_.superblocks.remote_count(s), 3U);
    parts_.let_go(kHeapA);
    EXPECT_TRUE(parts_.owners.owner(third).has_news());
}

TEST_F(MessengerTest, SomeMessagesHoldMoreThanGoesBackAtOnce) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    constexpr std::uint32_t kCount = 10 * Message::kBlocks;
    ASSERT_LT(kCount, blocks.size());
    send(kHeapB, {blocks.data(), kCount});
    parts_.holding(kHeapA, [&] { parts_.messenger.receive(kHeapA); });
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, kCount) << "there is no magazine";
}

// A thread that opens messages may hold more locks, so it waits for none: it frees by bits, which the lock's holder
// collects.
TEST_F(MessengerTest, AReaderDoesNotWaitForTheGlobalHeap) {
    const std::vector<void *> blocks = take_global();
    Message message = {};
    message.begin(kHeapA, blocks[0]);
    parts_.owners.owner(kHeapA).inbox.push(&message);
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    const std::uint32_t free = s->free_count;
    parts_.while_held_elsewhere(owner_of_global(kClass), [&] {
        parts_.holding(kHeapA, [&] { parts_.messenger.receive(kHeapA); });
        EXPECT_TRUE(message.is_blank());
        EXPECT_EQ(s->free_count, free);
    });
    EXPECT_EQ(s->free_count, free + 1);
}

class PostElsewhere : public MessengerTest {
  protected:
    void SetUp() override {
        if (!fake::has_rseq()) GTEST_SKIP() << "libc registers no rseq here";
    }
    PostElsewhere() : MessengerTest({.sequences = fake::has_rseq()}) {}
};

// Its magazine has room, but no other thread may touch it.
TEST_F(PostElsewhere, WhoReadsForAnotherPutsItsBlocksIntoTheBitmap) {
    const OwnerIndex far = parts_.last_heap();
    const std::vector<void *> blocks = parts_.take_all(far, kClass);
    ASSERT_EQ(parts_.fill(far, {blocks[0]}), 1U);
    Message message = {};
    message.begin(far, blocks[1]);
    message.write(1, blocks[2]);
    message.close(2);
    parts_.owners.owner(far).inbox.push(&message);
    parts_.remote.settle(far);
    EXPECT_TRUE(message.is_blank());
    EXPECT_EQ(parts_.in_magazine(far, magazine_of(kClass)), 1U);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, 2U) << "a block was lost";
}

}  // namespace gr::messenger_test

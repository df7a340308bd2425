// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: messages (code: messages): what an outbox hands out, how a stack of them travels, and where their blocks end up.
// Invariant: what a message brought is in a magazine or a bitmap once it was opened, and the message is blank.
// Must not know: how a sender gathers blocks; test/malloc frees across real CPUs.
#include "heap/message.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "heap/take_all_stack.hpp"
#include "heap/world.hpp"

namespace gr::message_test {

using fake::World;

constexpr ClassIndex kClass = class_of(256);

// A message from outside to a heap, as a sender leaves it.
void send(World &world, Message &message, std::uint32_t to, const std::vector<void *> &blocks) {
    ASSERT_LE(blocks.size(), Message::kBlocks);
    message.begin(owner_of_heap(to), blocks[0]);
    for (std::uint32_t i = 1; i < blocks.size(); ++i) message.write(i, blocks[i]);
    message.close(static_cast<std::uint32_t>(blocks.size()));
    world.heap(to).inbox.push(&message);
}

std::vector<void *> allocate(World &world, std::uint32_t heap, std::size_t count) {
    std::vector<void *> blocks;
    while (blocks.size() < count) blocks.push_back(world.allocate_in(heap, kClass));
    return blocks;
}

TEST(Outbox, HandsOutWhatIsBlankAndNothingElse) {
    Outbox outbox{};
    std::set<Message *> messages;
    int block = 0;
    for (unsigned i = 0; i < kMessages; ++i) {
        Message *const message = outbox.blank();
        ASSERT_NE(message, nullptr);
        message->begin(owner_of_heap(i), &block);
        messages.insert(message);
    }
    EXPECT_EQ(messages.size(), kMessages) << "a message was handed out twice";
    EXPECT_EQ(outbox.blank(), nullptr);
    EXPECT_EQ(outbox.slowest_reader(), owner_of_heap(0));
    Message *const one = *messages.begin();
    void *read[Message::kBlocks];
    EXPECT_EQ(one->read(read), 1U);
    EXPECT_EQ(read[0], &block);
    EXPECT_EQ(outbox.blank(), one);
}

TEST(Message, IsReadFromTheBlockThatWasFreedFirst) {
    // Out of a remote magazine comes first what was freed last.
    int freed[3] = {};
    Message message = {};
    message.begin(owner_of_heap(0), &freed[2]);
    message.write(1, &freed[1]);
    message.write(2, &freed[0]);
    message.close(3);
    void *read[Message::kBlocks];
    ASSERT_EQ(message.read(read), 3U);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(read[i], &freed[i]);
}

// Blocks of two classes by turns and in runs: each class's go into its own magazine.
TEST(Message, AMessageMayHoldSeveralClasses) {
    World world;
    constexpr ClassIndex kOther = class_of(512);
    const std::vector<void *> some = allocate(world, 0, 6);
    std::vector<void *> others;
    while (others.size() < 5) others.push_back(world.allocate_in(0, kOther));
    const std::uint32_t before[] = {world.in_magazine(0, kClass), world.in_magazine(0, kOther)};
    Message message = {};
    send(world, message, 0,
         {some[0], others[0], others[1], some[1], some[2], some[3], others[2], others[3], others[4], some[4]});
    world.free(some[5]);  // takes and lets go of the lock of heap 0
    EXPECT_EQ(world.in_magazine(0, kClass), before[0] + 6);
    EXPECT_EQ(world.in_magazine(0, kOther), before[1] + 5);
    world.heaps.reclaim();
    EXPECT_TRUE(world.is_valid());
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

TEST(TakeAllStack, TakesChainsLastFirst) {
    Message messages[4] = {};
    TakeAllStack<Message> stack;
    EXPECT_FALSE(stack.has_any());
    stack.push(&messages[0]);
    messages[2].link = &messages[1];
    stack.push(&messages[2], &messages[1]);
    stack.push(&messages[3]);
    EXPECT_TRUE(stack.has_any());
    Message *message = stack.take_all();
    for (const int i : {3, 2, 1, 0}) {
        ASSERT_EQ(message, &messages[i]);
        message = message->link;
    }
    EXPECT_EQ(message, nullptr);
    EXPECT_FALSE(stack.has_any());
    EXPECT_EQ(stack.take_all(), nullptr);
}

TEST(Message, OpenedAtTheNextRefillItFillsTheMagazine) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, 8);
    std::vector<void *> rest;
    while (world.in_magazine(0, kClass) != 0) rest.push_back(world.allocate_in(0, kClass));
    Message message = {};
    send(world, message, 0, blocks);
    const std::set<void *> sent(blocks.begin(), blocks.end());
    const std::size_t used = world.superblock_of(blocks[0])->used_count();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        void *const p = world.allocate_in(0, kClass);
        EXPECT_EQ(sent.count(p), 1U) << "block " << i << " comes from elsewhere";
        EXPECT_TRUE(message.is_blank());
    }
    EXPECT_EQ(world.superblock_of(blocks[0])->used_count(), used) << "the bitmap was touched";
    for (void *p : blocks) world.free(p);
    for (void *p : rest) world.free(p);
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

TEST(Message, WhatFindsNoRoomGoesToTheBitmap) {
    World world;
    std::vector<void *> others;
    std::vector<Message> messages(shape_of(kClass).magazine_slots / Message::kBlocks + 1);
    const std::vector<void *> blocks = allocate(world, 0, messages.size() * Message::kBlocks);
    void *const other = world.allocate_in(0, kClass);
    while (world.in_magazine(0, kClass) != 0) others.push_back(world.allocate_in(0, kClass));
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto first = blocks.begin() + static_cast<std::ptrdiff_t>(i * Message::kBlocks);
        send(world, messages[i], 0, {first, first + Message::kBlocks});
    }
    world.free(other);  // takes and lets go of the lock of heap 0
    const std::uint32_t room = world.in_magazine(0, kClass) - 1;
    EXPECT_GT(room, 0U);
    EXPECT_LT(room, blocks.size()) << "the test tests nothing";
    std::size_t free = 0;
    for (void *p : blocks) free += world.is_free(p) ? 1 : 0;
    EXPECT_EQ(free + room, blocks.size());
    for (const Message &message : messages) EXPECT_TRUE(message.is_blank());
    EXPECT_TRUE(world.is_valid());
    for (void *p : others) world.free(p);
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

// Between the writing and the reading of a message superblocks may go to the global heap.
TEST(Message, AMessageThatCameTooLateIsPassedOn) {
    World world;
    const std::uint32_t each = shape_of(kClass).blocks;
    const std::vector<void *> blocks = allocate(world, 0, std::size_t{8} * each);
    std::vector<void *> late, others;
    for (void *p : world.free_seven_of_eight(blocks)) {
        const bool global = world.owner_of(p) == owner_of_global(kClass);
        (global && late.size() < Message::kBlocks ? late : others).push_back(p);
    }
    ASSERT_EQ(late.size(), Message::kBlocks) << "the test tests nothing";
    Message message = {};
    send(world, message, 0, late);
    world.heaps.reclaim();
    for (void *p : late) EXPECT_TRUE(world.superblock_of(p)->use != UnitUse::superblock || world.is_free(p));
    EXPECT_TRUE(world.is_valid());
    for (void *p : others) world.free(p);
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

// As if heap `at` had freed them all: full remote magazines, one after the other.
void free_far_away(World &world, std::uint32_t at, const std::vector<void *> &blocks) {
    Slab slab(world.region.readable_table(), at, nullptr);
    ASSERT_TRUE(slab.set_capacity(kRemoteMagazine, kRemoteSlotsBegin, kRemoteMagazineSlots));
    for (std::size_t i = 0; i < blocks.size();) {
        const auto left = static_cast<std::uint32_t>(blocks.size() - i);
        const std::int64_t pushed = slab.push_n(kRemoteMagazine, blocks.data(), left);
        ASSERT_GT(pushed, 0);
        i += static_cast<std::size_t>(pushed);
        world.heaps.reclaim();
    }
}

TEST(Messenger, SendsToEveryHeapWhatIsIts) {
    World world({.stripes = 33});  // more than drafts are written at a time
    std::vector<std::vector<void *>> blocks;
    for (std::uint32_t i = 0; i < 33; ++i) blocks.push_back(allocate(world, i, 10));
    std::vector<void *> one_of_each;
    for (const auto &of_heap : blocks) one_of_each.push_back(of_heap[0]);  // heap 0's is the first
    ASSERT_LE(one_of_each.size(), kRemoteMagazineSlots) << "more than one flush";
    free_far_away(world, 5, one_of_each);
    for (std::uint32_t i = 0; i < 5; ++i) {  // those that were reclaimed before it
        EXPECT_FALSE(world.is_free(blocks[i][0])) << "not by a message to heap " << i << ", whose magazine it fills";
    }
    std::vector<void *> mixed;
    for (std::size_t k = 1; k < 10; ++k) {
        for (const auto &of_heap : blocks) mixed.push_back(of_heap[k]);
    }
    free_far_away(world, 5, mixed);
    EXPECT_TRUE(world.is_valid());
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

// Messages on the way to a heap that does not read do not keep the sender from other heaps.
TEST(Messenger, WithoutABlankMessageItSetsBitsOrReadsForTheSlowest) {
    World world;
    const std::vector<void *> slow = allocate(world, 2, kMessages);
    std::vector<Message *> messages;
    for (void *p : slow) {
        messages.push_back(world.outbox(1).blank());
        ASSERT_NE(messages.back(), nullptr);
        messages.back()->begin(owner_of_heap(2), p);
    }
    void *const anchor = world.allocate_in(0, kClass);  // its superblock stays
    const std::vector<void *> blocks = allocate(world, 0, 10);
    free_far_away(world, 1, blocks);
    for (void *p : blocks) EXPECT_TRUE(world.is_free(p)) << "no message was blank, so the block went by its bit";

    for (Message *message : messages) world.heap(2).inbox.push(message);
    const std::vector<void *> more = allocate(world, 0, 10);
    free_far_away(world, 1, more);
    for (void *p : more)
        EXPECT_FALSE(world.is_free(p)) << "a message was blank again, so the block went into the magazine";
    for (const Message *message : messages) EXPECT_TRUE(message->is_blank() || message->to == owner_of_heap(0));
    world.free(anchor);
    world.heaps.reclaim();
    EXPECT_TRUE(world.is_valid());
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

TEST(Message, CountsAsCached) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, 3);
    std::uint64_t before[kClassCount] = {}, after[kClassCount] = {};
    world.heaps.count_cached(before);
    Message *const message = world.outbox(1).blank();
    ASSERT_NE(message, nullptr);
    send(world, *message, 0, blocks);
    world.heaps.count_cached(after);
    EXPECT_EQ(after[kClass.value], before[kClass.value] + blocks.size());
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

}  // namespace gr::message_test

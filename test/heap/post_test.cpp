// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the post between heaps: who gets a letter, where its blocks end up, and what no letter carries.
// Invariant: every block that was handed over is in a letter, a magazine or a bitmap.
// Must not know: when a magazine is flushed.
#include "heap/post.hpp"

#include "heap/parts.hpp"

namespace gr {
namespace {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);

class PostTest : public testing::Test {
  protected:
    void send(OwnerIndex from, std::span<void *const> blocks) {
        parts_.holding(from, [&] { parts_.post.send(from, blocks); });
    }
    std::size_t in_letters_of(OwnerIndex sender) {
        std::size_t count = 0;
        parts_.owners.outbox(sender).for_each_block([&](const void *) { ++count; });
        return count;
    }

    fake::Parts parts_;
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(PostTest, BlocksWaitInLettersUntilTheirHeapOpensThem) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::uint32_t count = 2 * Letter::kBlocks + 3;
    send(kHeapB, {blocks.data(), count});
    EXPECT_EQ(in_letters_of(kHeapB), count);
    EXPECT_TRUE(parts_.owners.owner(kHeapA).mail.has_any());
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), count * shape_of(kClass).size);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, 0U) << "no bit is touched";

    // Those for which the magazine has room, the others to the bitmap.
    parts_.holding(kHeapA, [&] {
        ASSERT_TRUE(parts_.capacities.grow(kHeapA, kClass));
        parts_.post.open(kHeapA);
    });
    const std::uint32_t room = parts_.owners.heap(kHeapA).magazines.capacity(kClass);
    EXPECT_EQ(parts_.in_magazine(kHeapA, magazine_of(kClass)), room);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, count - room);
    EXPECT_EQ(in_letters_of(kHeapB), 0U) << "read letters are blank";
}

TEST_F(PostTest, TheGlobalHeapGetsNoLetters) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ / 2);
    std::vector<void *> rest;
    for (const auto &blocks : held) {
        const bool global = !is_heap(owner_of(parts_.superblock_of(blocks[0])));
        if (global) rest.assign(blocks.begin() + each_ / 2, blocks.begin() + each_ / 2 + 5);
    }
    ASSERT_EQ(rest.size(), 5U) << "none went to the global heap";
    send(kHeapB, rest);
    EXPECT_EQ(in_letters_of(kHeapB), 0U);
    for (const void *p : rest) EXPECT_TRUE(parts_.is_free(p));
}

TEST_F(PostTest, WithoutPaperBitsAreSetAndTheOwnerIsToldOfBoth) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> slow = parts_.take_all(owner_of_heap(2), kClass);
    std::vector<Letter *> letters;
    while (Letter *const letter = parts_.owners.outbox(kHeapB).blank()) {
        letter->begin(owner_of_heap(2), slow[letters.size()]);
        letters.push_back(letter);
    }
    ASSERT_EQ(letters.size(), kLetters);
    parts_.hold(kHeapA);
    send(kHeapB, {blocks.data(), 4});
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    EXPECT_FALSE(parts_.owners.owner(kHeapA).mail.has_any());
    EXPECT_TRUE(parts_.owners.owner(kHeapA).pending.has_any());
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), 4 * shape_of(kClass).size);
    parts_.let_go(kHeapA);
    EXPECT_EQ(s->free_count, 4U);
    for (Letter *letter : letters) parts_.owners.owner(owner_of_heap(2)).mail.push(letter);
    send(kHeapB, {&blocks[4], 4});
    EXPECT_EQ(parts_.superblock_of(slow[0])->free_count, kLetters) << "the slowest's letters were read for it";
    EXPECT_EQ(in_letters_of(kHeapB), 4U);
}

}  // namespace
}  // namespace gr

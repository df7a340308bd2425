// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a position holds the live blocks that it was made of, whatever their numbers are, and few bytes of usual ones.
// Invariant: what is expected is kept beside, in a map.
// Must not know: how a position is packed.
#include "reading/trace/position.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gr::trace::position_test {

// By address.
using Blocks = std::map<std::uint64_t, Block>;

bool is_same(const Block &a, const Block &b) {
    return a.address == b.address && a.size == b.size && a.born == b.born && a.number == b.number &&
           a.bytes_before == b.bytes_before && a.thread == b.thread && a.stack == b.stack && a.op == b.op &&
           a.log2_alignment == b.log2_alignment;
}

Position position_of(const Blocks &blocks) {
    LiveSet live;
    for (const auto &[address, block] : blocks) live.add(block);
    return {Time{77}, live, 12, 34};
}

void expect_holds(const Position &position, const Blocks &blocks) {
    EXPECT_EQ(position.time(), Time{77});
    EXPECT_EQ(position.births(), 12U);
    EXPECT_EQ(position.bytes_born(), 34U);
    const LiveSet live = position.live();
    ASSERT_EQ(live.count(), blocks.size());
    for (const auto &[address, block] : blocks) {
        const Block *const found = live.find(address);
        ASSERT_NE(found, nullptr);
        EXPECT_TRUE(is_same(*found, block)) << address;
    }
}

TEST(Position, OfNothing) { expect_holds(position_of({}), {}); }

TEST(Position, AnyNumbersComeBack) {
    std::mt19937_64 random(5);
    const auto any = [&random] { return random() >> random() % 64; };
    Blocks blocks;
    for (std::size_t i = 0; i < 10000; ++i) {
        Block block;
        block.address = any() | 1;
        block.size = any();
        block.born = Time{any()};
        block.number = any();
        block.bytes_before = any();
        block.thread = ThreadNumber{static_cast<std::uint32_t>(any())};
        block.stack = StackNumber{static_cast<std::uint32_t>(any())};
        block.op = static_cast<Op>(random() % number_of(Op::free));
        block.log2_alignment = static_cast<std::uint8_t>(random() % 64);
        blocks[block.address] = block;
    }
    expect_holds(position_of(blocks), blocks);
}

TEST(Position, UsualBlocksTakeAThirdOfTheirSizeAtMost) {
    std::mt19937_64 random(6);
    Blocks blocks;
    Block block;
    for (std::size_t i = 0; i < 100000; ++i) {
        block.address = 0x7f0000000000 + random() % (1 << 28) * 16;
        block.size = 1 + random() % 8192;
        block.born.units += random() % 1000;
        block.number += 1 + random() % 100;
        block.bytes_before += random() % 100000;
        block.thread = ThreadNumber{static_cast<std::uint32_t>(random() % 100)};
        block.stack = StackNumber{static_cast<std::uint32_t>(random() % 1000)};
        block.op = Op::malloc;
        blocks[block.address] = block;
    }
    const Position position = position_of(blocks);
    expect_holds(position, blocks);
    EXPECT_LE(position.bytes() * 3, blocks.size() * sizeof(Block));
}

}  // namespace gr::trace::position_test

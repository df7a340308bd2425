// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a bitmap of any size against a vector of bool, and the bits beyond its end.
// Invariant: the words around those of the bitmap are checked too.
// Must not know: what a bit means.
#include "base/bitmap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace gr::bitmap_test {

constexpr Word kGuard = 0x0123456789abcdef;

TEST(Bitmap, AllOnesOfEverySize) {
    for (std::uint32_t size = 1; size <= 4097; ++size) {
        std::vector<Word> words((size + 63) / 64 + 1, kGuard);
        Bitmap bits(words.data(), size);
        bits.set_all();
        ASSERT_EQ(bits.word_count(), words.size() - 1);
        ASSERT_EQ(bits.count(), size);
        ASSERT_TRUE(bits.is_valid());
        ASSERT_TRUE(bits.test(BlockIndex(0)) && bits.test(BlockIndex(size - 1)));
        ASSERT_EQ(words.back(), kGuard) << "wrote past its words";
        if (size % 64 == 0) continue;
        words[bits.word_count() - 1] |= Word{1} << (size % 64);
        ASSERT_FALSE(bits.is_valid()) << "a bit beyond the end went unseen, size " << size;
    }
}

RC_GTEST_PROP(Bitmap, AgreesWithAVectorOfBool, ()) {
    const auto size = *rc::gen::inRange<std::uint32_t>(1, 4200);
    const auto changes = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, size));
    std::vector<Word> words((size + 63) / 64);
    std::vector<bool> model(size);
    Bitmap bits(words.data(), size);
    for (const std::uint32_t i : changes) {
        const BitPosition at = BitPosition::of(BlockIndex(i));
        bits.word(at.word) ^= at.mask;
        model[i] = !model[i];
    }
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
        RC_ASSERT(bits.test(BlockIndex(i)) == model[i]);
        if (model[i]) ++count;
    }
    RC_ASSERT(bits.count() == count);
    RC_ASSERT(bits.is_valid());
}

RC_GTEST_PROP(Bitmap, RangesAreChangedWholeAndAlone, ()) {
    const auto size = *rc::gen::inRange<std::uint32_t>(1, 400);
    const auto first = *rc::gen::inRange<std::uint32_t>(0, size);
    const auto last = *rc::gen::inRange<std::uint32_t>(first, size);
    const auto hole = *rc::gen::inRange<std::uint32_t>(0, size);
    std::vector<Word> words((size + 63) / 64);
    Bitmap bits(words.data(), size);
    bits.set_all();
    bits.word(hole / 64) &= ~(Word{1} << (hole % 64));
    const bool holed = first <= hole && hole <= last;
    RC_ASSERT(bits.all(BlockIndex(first), BlockIndex(last)) == !holed);
    const std::uint32_t inside = last - first + 1;
    RC_ASSERT(bits.change(BlockIndex(first), BlockIndex(last), false) == inside - (holed ? 1 : 0));
    for (std::uint32_t i = 0; i < size; ++i) {
        RC_ASSERT(bits.test(BlockIndex(i)) == ((i < first || i > last) && i != hole));
    }
    RC_ASSERT(bits.change(BlockIndex(first), BlockIndex(last), true) == inside);
    RC_ASSERT(bits.all(BlockIndex(first), BlockIndex(last)));
    RC_ASSERT(bits.is_valid());
}

}  // namespace gr::bitmap_test

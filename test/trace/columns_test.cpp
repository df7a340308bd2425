// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: numbers as bytes, and back.
// Invariant: as many bytes as the format says.
// Must not know: what the numbers mean.
#include "reading/trace/columns.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gr::trace::columns_test {

TEST(Columns, NumbersComeBackWhateverTheirLength) {
    NumberWriter writer;
    for (int round = 0; round < 2; ++round) {
        writer.clear();
        EXPECT_TRUE(writer.bytes().empty());
        for (unsigned shift = 0; shift < 64; ++shift) {
            const std::uint64_t number = std::uint64_t{1} << shift;
            const std::size_t before = writer.bytes().size();
            writer.put(number);
            EXPECT_EQ(writer.bytes().size() - before, shift / 7 + 1);
            writer.put_byte(static_cast<std::uint8_t>(shift));
            writer.put_difference(0 - number);
            writer.put(number - 1);
        }
        writer.put(UINT64_MAX);
        NumberReader reader(writer.bytes());
        for (unsigned shift = 0; shift < 64; ++shift) {
            const std::uint64_t number = std::uint64_t{1} << shift;
            EXPECT_EQ(reader.take(), number);
            EXPECT_EQ(reader.take_byte(), shift);
            EXPECT_EQ(reader.take_difference(), 0 - number);
            EXPECT_EQ(reader.take(), number - 1);
        }
        EXPECT_EQ(reader.take(), UINT64_MAX);
        EXPECT_TRUE(reader.is_at_end());
    }
}

}  // namespace gr::trace::columns_test

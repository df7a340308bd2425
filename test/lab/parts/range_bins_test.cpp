// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins of ranges, of both kinds, against a plain set of blocks: where a block lies, and which one fits.
// Invariant: every size that a block can have.
// Must not know: neighbours and heaps.
#include "parts/layout/range_bins.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace gr::lab::range_bins_test {

constexpr std::size_t kWhole = 64 * kKiB - kAlignment;

template <SizeBins B, Fit kF>
struct Kind {
    using Bins = B;
    static constexpr Fit kFit = kF;
};

template <class K>
class RangeBinsTest : public testing::Test {
  protected:
    RangeBins<typename K::Bins, K::kFit> ranges;
};
using Kinds =
    testing::Types<Kind<GeometricBins<kWhole>, Fit::first_of_bin>, Kind<GeometricBins<kWhole>, Fit::best>,
                   Kind<GeometricBins<kWhole, 11>, Fit::first_of_bin>, Kind<GeometricBins<kWhole, 11>, Fit::best>>;
TYPED_TEST_SUITE(RangeBinsTest, Kinds);

TYPED_TEST(RangeBinsTest, ABinHoldsWhatIsNotBelowItsSize) {
    using Bins = typename TypeParam::Bins;
    for (std::size_t bytes = 2 * kAlignment; bytes <= kWhole; bytes += kAlignment) {
        const unsigned bin = this->ranges.bin_of_bytes(bytes);
        ASSERT_LE(Bins::size_of(bin), bytes);
        if (bin + 1 < Bins::kCount) {
            ASSERT_GT(Bins::size_of(bin + 1), bytes);
        }
    }
    EXPECT_EQ(this->ranges.bin_of_bytes(kWhole), this->ranges.kLast);
    EXPECT_EQ(this->ranges.bin_of_bytes(kWhole - kAlignment), this->ranges.kLast - 1);
}

// The reference: of each bin the blocks in the order of their insertion.
TYPED_TEST(RangeBinsTest, FindsWhatTheReferenceFinds) {
    constexpr std::size_t kPlace = 2 * kAlignment;
    std::vector<char> memory(512 * kPlace + kAlignment);
    char *const begin = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(memory.data()), kAlignment));
    std::map<unsigned, std::vector<char *>> reference;
    std::vector<char *> outside;
    for (unsigned i = 0; i < 500; ++i) outside.push_back(begin + i * kPlace + kAlignment);
    std::mt19937 random(5);
    std::size_t sum = 0;
    const auto random_bytes = [&] {
        const std::size_t most = std::size_t{64} << random() % 11;
        return std::min(kWhole, 2 * kAlignment + random() % most / kAlignment * kAlignment);
    };
    for (int i = 0; i < 30000; ++i) {
        if (random() % 2 == 0 && !outside.empty()) {
            char *const block = outside.back();
            outside.pop_back();
            const std::size_t bytes = random_bytes();
            set_tag(block, {static_cast<std::uint32_t>(bytes), 0, BlockState::free});
            reference[this->ranges.insert(block)].push_back(block);
            ASSERT_EQ(reference[this->ranges.bin_of_bytes(bytes)].back(), block);
            sum += bytes;
        } else {
            const std::size_t wanted = random_bytes();
            char *expected = nullptr;
            for (const auto &[bin, blocks] : reference) {
                if (bin < this->ranges.bin_of_bytes(wanted) || expected != nullptr) continue;
                for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) {
                    if (tag_of(*it).bytes < wanted) continue;
                    if (expected == nullptr ||
                        (TypeParam::kFit == Fit::best && tag_of(*it).bytes < tag_of(expected).bytes))
                        expected = *it;
                }
            }
            ASSERT_EQ(this->ranges.find(wanted), expected);
            if (TypeParam::kFit == Fit::best && expected != nullptr) {
                for (const auto &[bin, blocks] : reference)
                    for (const char *const block : blocks)
                        ASSERT_FALSE(tag_of(block).bytes >= wanted && tag_of(block).bytes < tag_of(expected).bytes);
            }
            if (expected == nullptr) continue;
            std::erase(reference[this->ranges.bin_of_bytes(tag_of(expected).bytes)], expected);
            sum -= tag_of(expected).bytes;
            this->ranges.remove(expected);
            outside.push_back(expected);
        }
        ASSERT_EQ(this->ranges.bytes(), sum);
        if (i % 64 != 0) continue;
        for (unsigned bin = 0; bin <= this->ranges.kLast; ++bin) {
            std::size_t in_bin = 0;
            for (const char *const block : reference[bin]) in_bin += tag_of(block).bytes;
            ASSERT_EQ(this->ranges.bytes_in(bin), in_bin);
        }
    }
    for (auto &[bin, blocks] : reference) {
        for (; !blocks.empty(); blocks.pop_back()) {
            ASSERT_EQ(this->ranges.first(bin), blocks.back());
            this->ranges.remove(blocks.back());
        }
        ASSERT_EQ(this->ranges.first(bin), nullptr);
        ASSERT_EQ(this->ranges.bytes_in(bin), 0U);
    }
    EXPECT_EQ(this->ranges.bytes(), 0U);
    EXPECT_EQ(this->ranges.find(1), nullptr);
}

}  // namespace gr::lab::range_bins_test

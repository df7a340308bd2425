// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a bin's groups, sums and Hoard's invariant while superblocks fill, empty, come and go.
// Invariant: is_valid() after every step.
// Must not know: where superblocks come from.
#include "heap/bin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "fake/region.hpp"

namespace gr::bin_test {

class BinTest : public testing::TestWithParam<std::uint32_t> {
  protected:
    void SetUp() override {
        fake::reset();
        ASSERT_TRUE(fake::reserve(region_, 8));
        ASSERT_TRUE(region_.ensure_chunks(8));
    }
    ClassIndex size_class() const { return ClassIndex(GetParam()); }
    std::uint32_t blocks() const { return shape_of(size_class()).blocks; }
    Superblock *adopt() {
        const UnitCount at(static_cast<std::uint32_t>(made_.size()) * shape_of(size_class()).units);
        Superblock *const s = superblocks_.make_superblock(region_.first_unit() + at, size_class(), false);
        made_.push_back(s);
        bin_.adopt(s);
        return s;
    }
    void take(Superblock *s, std::uint32_t count) {
        std::vector<void *> out(count);
        bin_.took(s, superblocks_.take(s, out));
    }
    void give(Superblock *s, std::uint32_t count) {
        std::uint32_t given = 0;
        for (std::uint32_t i = 0; i < blocks() && given < count; ++i) {
            void *const block = superblocks_.address(s, BlockIndex(i));
            if (!superblocks_.is_free(s, BlockIndex(i))) given += superblocks_.give(s, &block, 1);
        }
        bin_.gave(s, given);
    }

    Region region_;
    Superblocks superblocks_{region_};
    Bin bin_{};
    std::vector<Superblock *> made_;
};

TEST_P(BinTest, FullestFirstAndEmptiestLast) {
    Superblock *const empty = adopt();
    Superblock *const half = adopt();
    Superblock *const full = adopt();
    take(half, blocks() - blocks() / 2);
    take(full, blocks());
    EXPECT_TRUE(bin_.is_valid(superblocks_));
    EXPECT_EQ(full->group, kNoGroup);
    EXPECT_EQ(bin_.fullest(), half);
    EXPECT_EQ(bin_.emptiest(), empty);
    give(full, 1);
    EXPECT_EQ(bin_.fullest(), blocks() / 4 >= 2 ? full : bin_.fullest());
    take(empty, blocks());
    take(half, blocks());
    take(full, blocks());
    EXPECT_EQ(bin_.fullest(), nullptr);
    EXPECT_EQ(bin_.emptiest(), nullptr);
    EXPECT_EQ(bin_.free_blocks(), 0U);
    EXPECT_EQ(bin_.superblocks(), 3U);
}

TEST_P(BinTest, RandomHistoriesKeepItValid) {
    std::mt19937 random{GetParam()};
    std::vector<Superblock *> inside;
    std::vector<Superblock *> outside;
    for (int step = 0; step < 600; ++step) {
        if (made_.size() < 12 && random() % 8 == 0) {
            inside.push_back(adopt());
        } else if (!outside.empty() && random() % 8 == 0) {
            bin_.adopt(outside.back());
            inside.push_back(outside.back());
            outside.pop_back();
        } else if (!inside.empty()) {
            std::swap(inside[random() % inside.size()], inside.back());
            Superblock *const s = inside.back();
            const auto count = static_cast<std::uint32_t>(random() % (blocks() + 1));
            switch (random() % 5) {
                case 0:
                    bin_.abandon(s);
                    inside.pop_back();
                    outside.push_back(s);
                    break;
                case 1:
                case 2:
                    take(s, count);
                    break;
                default:
                    give(s, count);
                    break;
            }
        }
        ASSERT_TRUE(bin_.is_valid(superblocks_)) << "step " << step;
        std::uint64_t free = 0;
        for (const Superblock *s : inside) free += s->free_count;
        ASSERT_EQ(bin_.free_blocks(), free);
        ASSERT_EQ(bin_.superblocks(), inside.size());
        const std::uint64_t all = inside.size() * std::uint64_t{blocks()};
        // u >= a - K*S or u >= (1-f)*a, with u = a - free
        const bool hoard =
            free <= kSlackSuperblocks * blocks() || (all - free) * kEmptinessParts >= all * (kEmptinessParts - 1);
        ASSERT_EQ(bin_.keeps_hoards_invariant(size_class()), hoard);
        if (!hoard) {
            ASSERT_NE(bin_.emptiest(), nullptr);
            ASSERT_GE(bin_.emptiest()->free_count * kEmptinessParts, blocks()) << "not at least f empty";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Bin, BinTest, testing::Values(1U, 4U, 32U, 64U, 65U, 90U, kClassCount - 1));

}  // namespace gr::bin_test

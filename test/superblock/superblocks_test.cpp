// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: superblocks of every class: taking, giving, collecting, finding, and every kind of double free.
// Invariant: the blocks' own memory is not readable while this runs; is_valid() after every step.
// Must not know: heaps.
#include "superblock/superblocks.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "fake/region.hpp"
#include "platform/memory.hpp"

namespace gr::superblocks_test {

class SuperblocksTest : public testing::Test {
  protected:
    void SetUp() override {
        fake::reset();
        ASSERT_TRUE(fake::reserve(region_, 4));
        ASSERT_TRUE(region_.ensure_chunks(4));
        ASSERT_EQ(mprotect(region_.address(region_.first_unit()), 4 * kChunkBytes, PROT_NONE), 0);
    }
    UnitIndex unit(std::uint32_t i) const { return region_.first_unit() + UnitCount(i); }
    BlockIndex index_of(const void *p) const { return superblocks_.find(p).index; }
    bool give(Superblock *s, BlockIndex i) {
        void *const block = superblocks_.address(s, i);
        return superblocks_.give(s, &block, 1) == 1;
    }
    bool set_remote(Superblock *s, BlockIndex i) {
        const BitPosition at = BitPosition::of(i);
        return superblocks_.set_remote(s, at.word, at.mask);
    }

    Region region_;
    Superblocks superblocks_{region_};
    std::mt19937 random_{3};
};

class EveryClass : public SuperblocksTest, public testing::WithParamInterface<std::uint32_t> {
  protected:
    ClassIndex size_class() const { return ClassIndex(GetParam()); }
};

TEST_P(EveryClass, HandsOutAllBlocksLowestFirst) {
    Superblock *const s = superblocks_.make_superblock(unit(3), size_class(), true);
    ASSERT_TRUE(superblocks_.is_valid(s));
    EXPECT_TRUE(s->is_empty());
    const ClassShape &shape = s->shape();
    std::vector<void *> blocks;
    std::uint32_t taken = 0;
    for (std::uint32_t wanted = 1; taken < shape.blocks; wanted = wanted * 2 + 1) {
        std::vector<void *> room(wanted);
        const std::uint32_t got = superblocks_.take(s, room);
        ASSERT_EQ(got, std::min(wanted, shape.blocks - taken));
        blocks.insert(blocks.end(), room.rbegin(), room.rbegin() + got);
        taken += got;
        ASSERT_TRUE(superblocks_.is_valid(s));
        ASSERT_EQ(s->used_count(), taken);
        ASSERT_EQ(s->fresh_from, taken);
    }
    EXPECT_TRUE(s->is_full());
    EXPECT_EQ(superblocks_.take(s, blocks), 0U);
    for (std::uint32_t i = 0; i < taken; ++i) {
        ASSERT_EQ(blocks[i], region_.address(unit(3)) + std::size_t{i} * shape.size);
        ASSERT_EQ(index_of(blocks[i]).value, i);
    }
}

TEST_P(EveryClass, RandomTakesGivesAndRemoteFreesAgreeWithAModel) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), false);
    std::vector<void *> live;
    std::uint32_t remote = 0;
    std::uint32_t highest = 0;  // one above the highest block that was ever out
    for (int step = 0; step < 400; ++step) {
        if (const auto choice = random_() % 8; choice < 3) {
            std::vector<void *> blocks(1 + random_() % (s->shape().blocks / 4 + 2));
            blocks.erase(blocks.begin(), blocks.end() - superblocks_.take(s, blocks));
            ASSERT_TRUE(std::is_sorted(blocks.rbegin(), blocks.rend()));
            for (void *block : blocks) highest = std::max(highest, index_of(block).value + 1);
            live.insert(live.end(), blocks.begin(), blocks.end());
        } else if (choice == 7) {
            void *twice = nullptr;
            ASSERT_EQ(superblocks_.collect(s, &twice), remote);
            ASSERT_EQ(twice, nullptr);
            remote = 0;
        } else {
            for (auto frees = random_() % 32; frees != 0 && !live.empty(); --frees) {
                std::swap(live[random_() % live.size()], live.back());
                const BlockIndex i = index_of(live.back());
                live.pop_back();
                ASSERT_FALSE(superblocks_.is_free(s, i));
                ASSERT_TRUE(choice < 5 ? give(s, i) : set_remote(s, i));
                if (choice >= 5) ++remote;
                ASSERT_TRUE(superblocks_.is_free(s, i));
            }
        }
        ASSERT_TRUE(superblocks_.is_valid(s)) << "step " << step;
        ASSERT_EQ(superblocks_.remote_count(s), remote);
        ASSERT_EQ(s->free_count + remote + live.size(), s->shape().blocks);
        ASSERT_EQ(s->fresh_from, highest);
    }
    std::set<void *> unique(live.begin(), live.end());
    EXPECT_EQ(unique.size(), live.size()) << "handed out twice";
}

// Up to the first that is not good; what was given before it stays given, whichever word it lies in.
TEST_P(EveryClass, GivesManyUpToTheFirstThatIsNotGood) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), false);
    const std::uint32_t count = s->shape().blocks;
    std::vector<void *> blocks(count);
    ASSERT_EQ(superblocks_.take(s, blocks), count);
    std::shuffle(blocks.begin(), blocks.end(), random_);
    const std::uint32_t good = count / 2;
    const std::vector<void *> sound = blocks;
    char *const inside = static_cast<char *>(blocks[good]) + 1;
    for (void *const bad : {static_cast<void *>(inside), blocks[0], static_cast<void *>(&blocks)}) {
        blocks = sound;
        blocks[good] = bad;
        ASSERT_EQ(superblocks_.give(s, blocks.data(), count), good);
        ASSERT_EQ(s->free_count, good);
        ASSERT_TRUE(superblocks_.is_valid(s));
        for (std::uint32_t i = 0; i < count; ++i) {
            ASSERT_EQ(superblocks_.is_free(s, index_of(sound[i])), i < good) << i;
        }
        std::vector<void *> again(count);
        ASSERT_EQ(superblocks_.take(s, again), good);
    }
}

// Runs of neighbours are given at once, in either direction, but never past one that is free already.
TEST_P(EveryClass, GivesRunsUpToTheFirstThatIsFree) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), false);
    const std::uint32_t count = s->shape().blocks;
    std::vector<void *> blocks(count);
    ASSERT_EQ(superblocks_.take(s, blocks), count);
    for (const bool forwards : {true, false}) {
        for (std::uint32_t free_one = 0; free_one < count; free_one += 1 + count / 16) {
            ASSERT_TRUE(give(s, index_of(blocks[free_one])));
            ASSERT_EQ(superblocks_.give(s, blocks.data(), count), free_one) << (forwards ? "up" : "down");
            ASSERT_EQ(s->free_count, free_one + 1);
            ASSERT_TRUE(superblocks_.is_valid(s));
            ASSERT_EQ(superblocks_.give(s, blocks.data() + free_one + 1, count - free_one - 1), count - free_one - 1);
            ASSERT_TRUE(s->is_empty() && superblocks_.is_valid(s));
            ASSERT_EQ(superblocks_.take(s, blocks), count);
            if (!forwards) std::reverse(blocks.begin(), blocks.end());
        }
        std::reverse(blocks.begin(), blocks.end());
    }
}

// Against a model that looks at every block of every page.
TEST_P(EveryClass, ClaimsThePagesThatHoldNoOtherBlock) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), false);
    const std::size_t page = platform::page_size(), size = s->shape().size;
    std::vector<void *> blocks(s->shape().blocks);
    ASSERT_EQ(superblocks_.take(s, blocks), blocks.size());
    for (unsigned keep = 1; keep < 80; keep = keep * 2 + 1) {
        std::vector<bool> out(blocks.size());
        for (std::size_t i = 0; i < blocks.size(); ++i) out[i] = random_() % keep == 0;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            ASSERT_TRUE(out[i] || give(s, BlockIndex(static_cast<std::uint32_t>(i))));
        }
        const std::uint32_t free = s->free_count;
        const PageSet pages = superblocks_.empty_pages(s);
        const std::uint32_t claimed = superblocks_.claim_pages(s, pages);
        ASSERT_TRUE(superblocks_.is_valid(s));
        std::vector<bool> expected(blocks.size());
        bool before = false;
        for (std::size_t p = 0; p < s->bytes() / page; ++p) {
            const std::size_t first = p * page / size;
            const std::size_t end = std::min(((p + 1) * page - 1) / size + 1, blocks.size());
            // A page behind the last block goes with that block's.
            bool empty = first < end || before;
            for (std::size_t i = first; i < end; ++i) empty = empty && !out[i];
            ASSERT_EQ(pages.has(static_cast<unsigned>(p)), empty) << "page " << p;
            for (std::size_t i = first; empty && i < end; ++i) expected[i] = true;
            before = empty;
        }
        ASSERT_EQ(claimed, static_cast<std::uint32_t>(std::count(expected.begin(), expected.end(), true)));
        ASSERT_EQ(s->free_count, free - claimed);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            ASSERT_EQ(superblocks_.is_free(s, BlockIndex(static_cast<std::uint32_t>(i))), !out[i] && !expected[i]) << i;
        }
        const std::size_t idle = free * size - superblocks_.bytes_of_blocks(s, s->absent);
        ASSERT_EQ(superblocks_.return_pages(s, pages, pages), claimed);
        ASSERT_EQ(s->free_count, free);
        ASSERT_EQ(superblocks_.idle_bytes(s), idle - superblocks_.bytes_of_blocks(s, pages));
        ASSERT_TRUE(superblocks_.is_valid(s));
        ASSERT_FALSE(superblocks_.empty_pages(s).any()) << "what is not resident was claimed once more";
        std::vector<void *> taken(free);
        ASSERT_EQ(superblocks_.take(s, taken), free);
        ASSERT_FALSE(s->absent.any()) << "a page is called absent and all blocks are out";
    }
}

TEST_P(EveryClass, BlocksCoverAllButTheEnd) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), false);
    const std::size_t page = platform::page_size(), end = s->shape().blocks * std::size_t{s->shape().size};
    EXPECT_EQ(superblocks_.idle_bytes(s), end);
    PageSet all;
    for (unsigned p = 0; p * page < s->bytes(); ++p) {
        PageSet one;
        one.add(p);
        all.add(p);
        const std::size_t covered = p * page >= end ? 0 : std::min(page, end - p * page);
        ASSERT_EQ(superblocks_.bytes_of_blocks(s, one), covered) << "page " << p;
    }
    EXPECT_EQ(superblocks_.bytes_of_blocks(s, all), end);
    const PageSet pages = superblocks_.empty_pages(s);
    const std::uint32_t claimed = superblocks_.claim_pages(s, pages);
    EXPECT_EQ(pages.count() * page, s->bytes()) << "the end behind the last block, too";
    EXPECT_EQ(superblocks_.return_pages(s, pages, pages), claimed);
    EXPECT_EQ(superblocks_.idle_bytes(s), 0U);
}

TEST_P(EveryClass, PagesThatWereNeverTouchedAreNotClaimed) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), true);
    const std::size_t size = s->shape().size, page = platform::page_size();
    EXPECT_EQ(superblocks_.idle_bytes(s), 0U);
    std::vector<void *> blocks(s->shape().blocks / 2);
    ASSERT_EQ(superblocks_.take(s, blocks), blocks.size());
    for (std::uint32_t i = 0; i < blocks.size(); ++i) ASSERT_TRUE(give(s, BlockIndex(i)));
    EXPECT_LT(superblocks_.idle_bytes(s), blocks.size() * size + page);
    EXPECT_GE(superblocks_.idle_bytes(s), blocks.size() * size);
    const PageSet pages = superblocks_.empty_pages(s);
    const std::uint32_t claimed = superblocks_.claim_pages(s, pages);
    EXPECT_LE(pages.count() * page, blocks.size() * size + page);
    EXPECT_EQ(superblocks_.return_pages(s, pages, pages), claimed);
    EXPECT_LT(superblocks_.idle_bytes(s), 2 * page);
}

TEST_P(EveryClass, EveryKindOfDoubleFreeIsFound) {
    Superblock *const s = superblocks_.make_superblock(unit(0), size_class(), false);
    std::vector<void *> blocks(s->shape().blocks);
    superblocks_.take(s, blocks);
    const BlockIndex last(s->shape().blocks - 1);
    ASSERT_TRUE(give(s, last));
    EXPECT_FALSE(give(s, last)) << "by the owner twice";
    EXPECT_EQ(s->free_count, 1U);
    ASSERT_TRUE(set_remote(s, BlockIndex(0)));
    EXPECT_FALSE(set_remote(s, BlockIndex(0))) << "by strangers twice";
    EXPECT_FALSE(give(s, BlockIndex(0))) << "by a stranger, then by the owner";
    ASSERT_TRUE(set_remote(s, last)) << "a stranger cannot see the owner's bits";
    EXPECT_FALSE(superblocks_.is_valid(s));
    void *twice = nullptr;
    superblocks_.collect(s, &twice);
    EXPECT_EQ(twice, superblocks_.address(s, last)) << "by the owner, then by a stranger";
}

TEST_P(EveryClass, FindsEveryAddressOfItsUnits) {
    Superblock *const s = superblocks_.make_superblock(unit(5), size_class(), false);
    const ClassShape &shape = s->shape();
    const char *const begin = superblocks_.begin(s);
    for (std::size_t offset = 0; offset < shape.bytes(); ++offset) {
        const BlockRef ref = superblocks_.find(begin + offset);
        const std::size_t block = offset / shape.size;
        if (block >= shape.blocks) {
            ASSERT_EQ(ref.fault, BlockFault::foreign) << "the tail, offset " << offset;
            continue;
        }
        ASSERT_EQ(ref.superblock, s);
        ASSERT_EQ(ref.index.value, block);
        ASSERT_EQ(ref.fault, offset % shape.size == 0 ? BlockFault::none : BlockFault::interior) << "offset " << offset;
    }
    EXPECT_EQ(superblocks_.find(begin - 1).fault, BlockFault::foreign);
    EXPECT_EQ(superblocks_.find(begin + shape.bytes()).fault, BlockFault::foreign);
    superblocks_.unmake(s);
    for (std::uint32_t i = 0; i < shape.units; ++i) {
        EXPECT_EQ(superblocks_.find(begin + i * kUnitBytes).fault, BlockFault::foreign);
    }
}

INSTANTIATE_TEST_SUITE_P(Superblocks, EveryClass, testing::Range(1U, kClassCount));

// Each bitmap fills its own words only: neighbours of the widest class and of a narrow one side by side.
TEST_F(SuperblocksTest, NeighboursDoNotShareWords) {
    const ClassIndex classes[] = {ClassIndex(1), ClassIndex(4), ClassIndex(1), ClassIndex(2), ClassIndex(3)};
    std::vector<Superblock *> made;
    std::uint32_t at = 0;
    for (const ClassIndex c : classes) {
        made.push_back(superblocks_.make_superblock(unit(at), c, false));
        at += shape_of(c).units;
    }
    for (Superblock *s : made) {
        std::vector<void *> blocks(s->shape().blocks);
        ASSERT_EQ(superblocks_.take(s, blocks), s->shape().blocks);
        for (std::uint32_t i = 0; i < s->shape().blocks; i += 2) ASSERT_TRUE(set_remote(s, BlockIndex(i)));
        for (const Superblock *other : made) ASSERT_TRUE(superblocks_.is_valid(other));
    }
    for (Superblock *s : made) {
        void *twice = nullptr;
        EXPECT_EQ(superblocks_.collect(s, &twice), (s->shape().blocks + 1) / 2);
        EXPECT_EQ(twice, nullptr);
    }
}

TEST_F(SuperblocksTest, TheUnitsOfTheTablesAreForeign) {
    EXPECT_EQ(superblocks_.find(region_.base()).fault, BlockFault::foreign);
    EXPECT_EQ(superblocks_.find(region_.table(0)).fault, BlockFault::foreign);
    EXPECT_EQ(superblocks_.find(region_.address(region_.first_unit()) - 1).fault, BlockFault::foreign);
}

TEST_F(SuperblocksTest, RunsAreOneBlockAndCanBeResized) {
    Superblock *const run = superblocks_.make_run(unit(2), UnitCount(6));
    const char *const begin = region_.address(unit(2));
    const auto fault_at = [&](std::size_t units) { return superblocks_.find(begin + units * kUnitBytes).fault; };
    EXPECT_EQ(fault_at(0), BlockFault::none);
    EXPECT_EQ(superblocks_.find(begin + 1).fault, BlockFault::interior);
    EXPECT_EQ(fault_at(5), BlockFault::interior);
    EXPECT_EQ(fault_at(6), BlockFault::foreign);
    EXPECT_EQ(superblocks_.find(begin + 5 * kUnitBytes).superblock, run);
    superblocks_.resize_run(run, UnitCount(3));
    EXPECT_EQ(run->bytes(), 3 * kUnitBytes);
    EXPECT_EQ(fault_at(2), BlockFault::interior);
    EXPECT_EQ(fault_at(3), BlockFault::foreign);
    superblocks_.resize_run(run, UnitCount(9));
    EXPECT_EQ(superblocks_.find(begin + 8 * kUnitBytes).superblock, run);
    superblocks_.unmake(run);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(fault_at(i), BlockFault::foreign);
}

TEST_F(SuperblocksTest, AUnitThatWasInteriorCanBeAFirstOne) {
    Superblock *const run = superblocks_.make_run(unit(0), UnitCount(8));
    superblocks_.unmake(run);
    Superblock *const s = superblocks_.make_superblock(unit(4), ClassIndex(1), false);
    EXPECT_EQ(superblocks_.find(superblocks_.begin(s)).superblock, s);
    EXPECT_EQ(superblocks_.find(superblocks_.begin(s)).fault, BlockFault::none);
}

TEST_F(SuperblocksTest, RemembersWhetherItWasMadeOfZeroes) {
    EXPECT_TRUE(superblocks_.make_superblock(unit(0), ClassIndex(9), true)->zeroed);
    Superblock *const s = superblocks_.make_superblock(unit(0), ClassIndex(9), false);
    EXPECT_FALSE(s->zeroed);
    EXPECT_EQ(s->fresh_from, 0U);
}

}  // namespace gr::superblocks_test

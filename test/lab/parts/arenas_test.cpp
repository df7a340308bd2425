// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: chunks, arenas, which thread has which, and huge blocks, each without the others as far as it goes.
// Invariant: a block that is in use keeps its bytes.
// Must not know: the allocator they make up.
#include "parts/jemalloc/arenas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "lab/parts/validity.hpp"
#include "parts/jemalloc/arena.hpp"
#include "parts/jemalloc/huge_blocks.hpp"

namespace gr::lab::arenas_test {

using TheArena = Arena<Quartiles>;
using TheChunk = TheArena::ArenasChunk;

constexpr unsigned kChunkShift = 18;  // the least
constexpr std::size_t kSmall = 64;

struct Owner {};

class ChunkTest : public testing::Test {
  protected:
    const ChunkShape shape_{kChunkShift};
    Owner owner_;
    ChunkSet<Owner> chunks_;

    Chunk<Owner> *chunk_of(const void *p) const { return Chunk<Owner>::of(p, shape_); }
    void put(void *run) {
        Chunk<Owner> *const chunk = chunk_of(run);
        chunks_.put(shape_, chunk, chunk->entry_of(run), false);
    }
};

TEST_F(ChunkTest, ARunIsAlignedToItsLengthAndMapped) {
    for (unsigned order = 0; order < shape_.order(); ++order) {
        void *const run = chunks_.take(shape_, &owner_, order, PageUse::large);
        ASSERT_NE(run, nullptr);
        const std::size_t bytes = kRunPageBytes << order;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(run) % bytes, 0U);
        std::memset(run, 1, bytes);
        Chunk<Owner> *const chunk = chunk_of(run);
        EXPECT_EQ(chunk->owner(), &owner_);
        for (std::size_t at = 0; at < bytes; at += kRunPageBytes) {
            const PageEntry &entry = chunk->entry_of(static_cast<char *>(run) + at);
            EXPECT_EQ(entry.used_for(), PageUse::large);
            EXPECT_EQ(entry.order, order);
            EXPECT_EQ(chunk->run_of(entry), run);
        }
        EXPECT_EQ(chunk->entry_of(chunk).used_for(), PageUse::header);
        put(run);
        EXPECT_EQ(chunk->entry_of(run).used_for(), PageUse::free);
    }
}

TEST_F(ChunkTest, OfEmptiedChunksOneStays) {
    std::vector<void *> halves;
    for (int i = 0; i < 5; ++i) halves.push_back(chunks_.take(shape_, &owner_, shape_.order() - 1, PageUse::large));
    EXPECT_EQ(chunks_.count(), 5U) << "a chunk has one half without a header";
    for (void *const half : halves) put(half);
    EXPECT_EQ(chunks_.count(), 1U);
    EXPECT_EQ(chunks_.most(), 5U);
    void *const page = chunks_.take(shape_, &owner_, 0, PageUse::large);
    EXPECT_EQ(chunks_.count(), 1U) << "the spare one served";
    EXPECT_FALSE(chunks_.give_back_spare(shape_));
    put(page);
    EXPECT_TRUE(chunks_.give_back_spare(shape_));
    EXPECT_EQ(chunks_.count(), 0U);
}

TEST_F(ChunkTest, ARunComesFromWhereTheLongestIsShortest) {
    void *const half = chunks_.take(shape_, &owner_, shape_.order() - 1, PageUse::large);
    void *const other_half = chunks_.take(shape_, &owner_, shape_.order() - 1, PageUse::large);
    void *const quarter = chunks_.take(shape_, &owner_, shape_.order() - 2, PageUse::large);
    const bool is_others = chunk_of(quarter) == chunk_of(other_half);
    put(is_others ? other_half : half);  // a half where the quarter lies, in the other no more than a quarter
    void *const page = chunks_.take(shape_, &owner_, 0, PageUse::large);
    EXPECT_NE(chunk_of(page), chunk_of(quarter));
    for (void *const run : {page, quarter, is_others ? half : other_half}) put(run);
    EXPECT_TRUE(chunks_.give_back_spare(shape_));
}

TEST_F(ChunkTest, MemoryThatIsNoneIsNotTakenForOne) {
    const std::unique_ptr<void, void (*)(void *)> memory(std::aligned_alloc(shape_.bytes(), shape_.bytes()), std::free);
    std::memset(memory.get(), 0, 4 * kRunPageBytes);
    EXPECT_DEATH(chunk_of(static_cast<char *>(memory.get()) + kRunPageBytes), "not a block in use");
}

TEST_F(ChunkTest, EveryLegalSizeHasRoomForItsHeader) {
    for (unsigned shift = kChunkShift; shift <= kMostChunkShift; ++shift) {
        const ChunkShape shape{shift};
        EXPECT_LE(Chunk<Owner>::header_pages(shape), std::max(1U, shape.pages() / 500)) << shift;
        EXPECT_LE(kMostRunOrder, shape.order() - 1);
    }
}

class ArenaTest : public testing::Test {
  protected:
    RunLayout layout_{ArenaOptions(), kAlignment};
    // What the arena has when the test ends goes with the process.
    std::unique_ptr<TheArena> arena_ = std::make_unique<TheArena>(&layout_);

    TheChunk *chunk_of(const void *p) const { return TheChunk::of(p, layout_.chunk()); }
    void free(void *p) { arena_->free(chunk_of(p), p); }
    std::vector<void *> allocate(std::size_t count, std::size_t size = kSmall) {
        std::vector<void *> blocks;
        for (std::size_t i = 0; i < count; ++i) blocks.push_back(arena_->allocate_small(size));
        return blocks;
    }
    const SmallRun *run_of(const void *p) const { return TheArena::run_of(chunk_of(p), p); }
    BinCounts counts() { return arena_->counts_of(layout_.bins().bin_of(kSmall)); }
    std::uint32_t regions() const { return layout_.shape(layout_.bins().bin_of(kSmall)).regions(); }
};

TEST_F(ArenaTest, ARunThatEmptiedInQinitStaysAndInQ0Goes) {
    for (int i = 0; i < 10; ++i) free(arena_->allocate_small(kSmall));
    EXPECT_EQ(counts().runs, 1U);
    EXPECT_EQ(counts().runs_made, 1U) << "a malloc and a free made or destroyed a run";
    std::vector<void *> blocks = allocate(divide_up(regions(), 4));
    EXPECT_EQ(counts().runs_made, 1U);
    EXPECT_EQ(run_of(blocks[0])->state, RunState::q0);
    for (void *const block : blocks) free(block);
    EXPECT_EQ(counts().runs, 0U);
    EXPECT_EQ(arena_->counts().chunks, 1U) << "its chunk is the spare one";
}

TEST_F(ArenaTest, ARunIsCurrentUntilItIsFullOrEmpty) {
    std::vector<void *> first = allocate(regions() - 1);
    const SmallRun *const run = run_of(first[0]);
    for (std::size_t i = 0; i < first.size() / 2; ++i) {
        free(first[i]);
        ASSERT_TRUE(run->is_current);
        first[i] = arena_->allocate_small(kSmall);
        ASSERT_EQ(run_of(first[i]), run);
    }
    void *const last = arena_->allocate_small(kSmall);
    EXPECT_EQ(run_of(last), run);
    EXPECT_FALSE(run->is_current);
    void *const other = arena_->allocate_small(kSmall);
    EXPECT_NE(run_of(other), run);
    free(last);
    EXPECT_EQ(run->state, RunState::q75);
    EXPECT_NE(run_of(arena_->allocate_small(kSmall)), run) << "the current one has room";
}

TEST_F(ArenaTest, TheNextCurrentRunIsOneOfQ50ThenQ25Q0Q75) {
    // Full runs, emptied to a state each.
    const std::map<RunState, std::size_t> left{{RunState::q0, 1},
                                               {RunState::q25, regions() / 4 + 1},
                                               {RunState::q50, regions() / 2 + 1},
                                               {RunState::q75, regions() - 1}};
    std::map<RunState, const SmallRun *> runs;
    std::map<RunState, std::vector<void *>> blocks;
    for (const auto &[state, count] : left) {
        blocks[state] = allocate(regions());
        runs[state] = run_of(blocks[state][0]);
    }
    for (const auto &[state, count] : left) {
        for (std::size_t i = count; i < regions(); ++i) free(blocks[state][i]);
        ASSERT_EQ(runs[state]->state, state);
    }
    for (const RunState state : {RunState::q50, RunState::q25, RunState::q0, RunState::q75}) {
        for (std::size_t i = left.at(state); i < regions(); ++i)
            ASSERT_EQ(run_of(arena_->allocate_small(kSmall)), runs[state]) << static_cast<int>(state);
    }
    EXPECT_EQ(counts().runs, left.size());
}

TEST_F(ArenaTest, LargeBlocksAreRunsOfTheirOwn) {
    std::set<void *> blocks;
    for (std::size_t size = kRunPageBytes; size <= layout_.chunk().longest_run(); size *= 2) {
        for (const std::size_t asked : {size / 2 + 1, size}) {
            void *const block = arena_->allocate_large(asked);
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % size, 0U);
            EXPECT_EQ(TheArena::usable_size(chunk_of(block), layout_, block), size);
            std::memset(block, 1, size);
            ASSERT_TRUE(blocks.insert(block).second);
        }
    }
    for (void *const block : blocks) free(block);
    EXPECT_EQ(arena_->counts().chunks, 1U);
}

TEST_F(ArenaTest, MisuseEndsInALine) {
    std::vector<void *> blocks = allocate(3);
    char *const small = static_cast<char *>(blocks[1]);
    EXPECT_DEATH(free(small + 16), "not a block in use") << "the inside of a region";
    EXPECT_DEATH(free(chunk_of(small)), "not a block in use") << "a chunk's header";
    free(small);
    EXPECT_DEATH(free(small), "not a block in use") << "freed twice";
    char *const large = static_cast<char *>(arena_->allocate_large(4 * kRunPageBytes));
    EXPECT_DEATH(free(large + kRunPageBytes), "not a block in use") << "the inside of a run";
    free(large);
    EXPECT_DEATH(free(large), "not a block in use") << "freed twice";
}

TEST_F(ArenaTest, OptionHGivesPagesBack) {
    ArenaOptions options;
    options.hint = 1;
    layout_ = RunLayout(options, kAlignment);
    char *const stays = static_cast<char *>(arena_->allocate_large(kRunPageBytes));
    char *const block = static_cast<char *>(arena_->allocate_large(kRunPageBytes));
    *block = 1;
    free(block);
    EXPECT_EQ(*block, 0);
    free(stays);
}

TEST_F(ArenaTest, RandomBlocksKeepTheirBytes) {
    std::mt19937 random(7);
    struct Piece {
        unsigned char *p;
        std::size_t size;
        unsigned char byte;
    };
    std::vector<Piece> pieces;
    for (int step = 0; step < 40000; ++step) {
        if (pieces.empty() || random() % 100 < (step / 5000 % 2 == 0 ? 60U : 40U)) {
            const std::size_t size = std::size_t{1} + random() % (std::size_t{2} << random() % 16);
            void *const p = layout_.is_small(size) ? arena_->allocate_small(size) : arena_->allocate_large(size);
            ASSERT_NE(p, nullptr);
            ASSERT_GE(TheArena::usable_size(chunk_of(p), layout_, p), size);
            const auto byte = static_cast<unsigned char>(random());
            std::memset(p, byte, size);
            pieces.push_back({static_cast<unsigned char *>(p), size, byte});
        } else {
            std::swap(pieces[random() % pieces.size()], pieces.back());
            const Piece piece = pieces.back();
            pieces.pop_back();
            ASSERT_TRUE(std::all_of(piece.p, piece.p + piece.size, [&](unsigned char c) { return c == piece.byte; }));
            free(piece.p);
        }
    }
    for (const Piece &piece : pieces) free(piece.p);
    for (unsigned bin = 0; bin < layout_.bins().count(); ++bin) ASSERT_LE(arena_->counts_of(bin).runs, 1U) << bin;
}

TEST(RunLayoutTest, ASizeIsRoundedToWhereItsAlignmentIsNatural) {
    EXPECT_EQ(RunLayout::rounded_for(0, 64), 64U);
    EXPECT_EQ(RunLayout::rounded_for(65, 32), 96U);
    EXPECT_EQ(RunLayout::rounded_for(1, 8 * kRunPageBytes), 8 * kRunPageBytes);
    EXPECT_EQ(RunLayout::order_of(kRunPageBytes / 2 + 1), 0U);
    EXPECT_EQ(RunLayout::order_of(kRunPageBytes), 0U);
    EXPECT_EQ(RunLayout::order_of(kRunPageBytes + 1), 1U);
    EXPECT_EQ(RunLayout::order_of(kMiB), 8U);
}

using TheArenas = Arenas<TheArena, RoundRobin, kAlignment>;
void report_nothing(void *) {}

TEST(ArenasTest, FourAProcessorOneOfOne) {
    EXPECT_EQ(TheArenas::count_for(1, 0), 1U);
    EXPECT_EQ(TheArenas::count_for(2, 0), 8U);
    EXPECT_EQ(TheArenas::count_for(4, 1), 32U);
    EXPECT_EQ(TheArenas::count_for(4, -2), 4U);
    EXPECT_EQ(TheArenas::count_for(2, -6), 1U) << "there is always one";
}

TEST(ArenasTest, ThreadsHaveThemInTurnForEver) {
    static constinit TheArenas arenas(report_nothing, nullptr);
    std::map<TheArena *, unsigned> threads;
    ASSERT_NE(arenas.mine(), nullptr);
    const std::size_t count = arenas.all().size();
    threads[arenas.mine()] = 1;
    for (std::size_t i = 1; i < 3 * count; ++i) {
        std::thread([&] {
            TheArena *const mine = arenas.mine();
            EXPECT_EQ(arenas.mine(), mine);
            ++threads[mine];
        }).join();
    }
    EXPECT_EQ(threads.size(), count);
    for (const auto &[arena, had] : threads) EXPECT_EQ(had, 3U);
}

TEST(HugeBlocksTest, RandomBlocksAgreeWithAMap) {
    static constinit HugeBlocks huge;
    const ChunkShape shape(kChunkShift);
    std::mt19937 random(8);
    std::map<char *, std::size_t> blocks;
    std::size_t bytes = 0;
    for (int step = 0; step < 2000; ++step) {
        if (blocks.empty() || random() % 2 == 0) {
            const std::size_t size = 1 + random() % (5 * shape.bytes());
            const std::size_t alignment = random() % 4 == 0 ? 4 * shape.bytes() : kAlignment;
            auto *const p = static_cast<char *>(huge.allocate(size, alignment, shape));
            ASSERT_NE(p, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max(alignment, shape.bytes()), 0U);
            const std::size_t usable = huge.usable_size(p);
            EXPECT_EQ(usable, align_up(size, shape.bytes()));
            EXPECT_EQ(p[0] | p[usable - 1], 0);
            p[0] = p[usable - 1] = 'x';
            ASSERT_TRUE(blocks.emplace(p, usable).second);
            bytes += usable;
        } else {
            const auto at = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
            ASSERT_EQ(at->first[0], 'x');
            huge.free(at->first);
            bytes -= at->second;
            blocks.erase(at);
        }
        ASSERT_TRUE(is_valid(huge.tree()));
        ASSERT_EQ(huge.counts().bytes, bytes);
    }
    for (const auto &[p, size] : blocks) huge.free(p);
    EXPECT_EQ(huge.counts().bytes, 0U);
    EXPECT_EQ(huge.allocate(std::size_t{1} << 62, kAlignment, shape), nullptr);
    void *const last = huge.allocate(1, kAlignment, shape);
    huge.free(last);
    EXPECT_DEATH(huge.free(last), "not a block in use");
}

}  // namespace gr::lab::arenas_test

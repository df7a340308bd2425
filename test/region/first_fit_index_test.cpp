// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the tree of minima against a plain vector of longest runs.
// Invariant: sizes around the powers of the fan-out are among those tried.
// Must not know: where in a chunk a run lies.
#include "region/first_fit_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace gr::first_fit_index_test {

class Twin {
  public:
    explicit Twin(std::uint32_t chunks)
        : memory_(FirstFitIndex::kFixedBytes + align_up(chunks, FirstFitIndex::kFanOut) + kGuardBytes),
          longest_(chunks, kUnitsPerChunk) {
        for (std::size_t i = memory_.size() - kGuardBytes; i < memory_.size(); ++i) memory_[i] = kGuard;
        index_.initialise(memory_.data() + FirstFitIndex::kFixedBytes, memory_.data(), chunks);
    }
    void set(std::uint32_t chunk, unsigned longest) {
        index_.set_longest_run(ChunkIndex(chunk), longest);
        longest_[chunk] = longest;
    }
    std::int64_t expected_find(unsigned length) const {
        for (std::size_t c = 0; c < longest_.size(); ++c) {
            if (longest_[c] >= length) return static_cast<std::int64_t>(c);
        }
        return -1;
    }
    std::int64_t expected_free_chunks(std::uint32_t count) const {
        for (std::size_t c = 0; c + count <= longest_.size(); ++c) {
            std::uint32_t free = 0;
            while (free < count && longest_[c + free] == kUnitsPerChunk) ++free;
            if (free == count) return static_cast<std::int64_t>(c);
        }
        return -1;
    }
    bool agrees() const {
        for (unsigned length = 1; length <= kUnitsPerChunk; ++length) {
            if (index_.find(length) != expected_find(length)) return false;
        }
        for (std::uint32_t count = 1; count <= 5; ++count) {
            if (index_.find_free_chunks(count) != expected_free_chunks(count)) return false;
        }
        for (std::size_t c = 0; c < longest_.size(); ++c) {
            if (index_.longest_run(ChunkIndex(static_cast<std::uint32_t>(c))) != longest_[c]) return false;
        }
        return true;
    }
    bool stays_inside() const {
        for (std::size_t i = memory_.size() - kGuardBytes; i < memory_.size(); ++i) {
            if (memory_[i] != kGuard) return false;
        }
        return true;
    }

  private:
    static constexpr std::size_t kGuardBytes = 64;
    static constexpr char kGuard = 0x5a;

    std::vector<char> memory_;
    std::vector<unsigned> longest_;
    FirstFitIndex index_;
};

const std::uint32_t kSizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 5000};

RC_GTEST_PROP(FirstFitIndex, AgreesWithAPlainVector, ()) {
    const std::uint32_t chunks = *rc::gen::elementOf(std::vector<std::uint32_t>(std::begin(kSizes), std::end(kSizes)));
    Twin twin(chunks);
    // Most of the low chunks are full, else every answer is the first chunk.
    const std::uint32_t full = *rc::gen::inRange<std::uint32_t>(0, chunks + 1);
    for (std::uint32_t c = 0; c < full; ++c) twin.set(c, 0);
    const auto changes = *rc::gen::container<std::vector<std::pair<std::uint32_t, unsigned>>>(
        rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, chunks), rc::gen::inRange(0U, kUnitsPerChunk + 1)));
    for (const auto &[chunk, longest] : changes) twin.set(chunk, longest);
    RC_ASSERT(twin.agrees());
    RC_ASSERT(twin.stays_inside());
}

TEST(FirstFitIndex, FillsAndEmptiesFromEitherEnd) {
    for (const std::uint32_t chunks : kSizes) {
        if (chunks > 200) continue;
        Twin twin(chunks);
        ASSERT_TRUE(twin.agrees()) << "fresh, " << chunks;
        for (std::uint32_t c = 0; c < chunks; ++c) {
            twin.set(c, 0);
            ASSERT_TRUE(twin.agrees()) << chunks;
        }
        for (std::uint32_t c = chunks; c-- != 0;) {
            twin.set(c, 1 + c % kUnitsPerChunk);
            ASSERT_TRUE(twin.agrees()) << chunks;
        }
    }
}

// As in a region, whose tables grow with the chunks.
TEST(FirstFitIndex, ReadsNoLeafBehindTheLastNodeThatWasSet) {
    constexpr std::uint32_t kChunks = 3 * 65536;
    constexpr std::uint32_t kWithMemory = 65536;  // a page, whatever its size
    std::vector<char> memory(FirstFitIndex::kFixedBytes);
    void *const leaves = mmap(nullptr, kChunks, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(leaves, MAP_FAILED);
    ASSERT_EQ(mprotect(leaves, kWithMemory, PROT_READ | PROT_WRITE), 0);
    FirstFitIndex index;
    index.initialise(static_cast<char *>(leaves), memory.data(), kChunks);
    EXPECT_EQ(index.find(1), 0);
    EXPECT_EQ(index.find_free_chunks(2 * kWithMemory), 0);
    for (std::uint32_t c = 0; c < kWithMemory; ++c) index.set_longest_run(ChunkIndex(c), 0);
    EXPECT_EQ(index.find(kUnitsPerChunk), kWithMemory);
    EXPECT_EQ(index.find_free_chunks(2 * kWithMemory), kWithMemory);
    EXPECT_EQ(index.find_free_chunks(2 * kWithMemory + 1), -1);
    EXPECT_EQ(index.longest_run(ChunkIndex(kWithMemory)), kUnitsPerChunk);
    munmap(leaves, kChunks);
}

// The largest region there can be, whose memory must suffice for all levels.
TEST(FirstFitIndex, TheLargestRegion) {
    constexpr auto kChunks = static_cast<std::uint32_t>(kRegionMaxBytes / kChunkBytes);
    Twin twin(kChunks);
    for (std::uint32_t c = 0; c < kChunks; ++c) twin.set(c, 3);
    twin.set(kChunks - 1, 17);
    EXPECT_EQ(twin.expected_find(17), kChunks - 1);
    EXPECT_TRUE(twin.agrees());
    EXPECT_TRUE(twin.stays_inside());
}

}  // namespace gr::first_fit_index_test

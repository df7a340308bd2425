// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lists by length against a plain vector of longest runs.
// Invariant: every length is asked for after every change.
// Must not know: where in a chunk a run lies.
#include "region/best_fit_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace gr::best_fit_index_test {

class Twin {
  public:
    explicit Twin(std::uint32_t chunks) : nodes_(chunks), longest_(chunks), groups_(chunks) {
        index_.initialise(nodes_.data());
    }
    void set(std::uint32_t chunk, unsigned longest) {
        index_.set_longest_run(ChunkIndex(chunk), longest);
        longest_[chunk] = longest;
    }
    void assign(std::uint32_t chunk, std::uint32_t group) {
        index_.set_group(ChunkIndex(chunk), CpuGroup(group));
        groups_[chunk] = group;
    }
    // Of 0: the group has none.
    unsigned shortest_of_at_least(unsigned length, std::uint32_t group) const {
        unsigned best = 0;
        for (std::size_t c = 0; c < longest_.size(); ++c) {
            if (groups_[c] == group && longest_[c] >= length && (best == 0 || longest_[c] < best)) best = longest_[c];
        }
        return best;
    }
    bool agrees() const {
        for (std::uint32_t group = 0; group < kCpuGroups; ++group) {
            for (unsigned length = 1; length <= kUnitsPerChunk; ++length) {
                if (!agrees(length, group)) return false;
            }
        }
        for (std::size_t c = 0; c < longest_.size(); ++c) {
            if (index_.longest_run(ChunkIndex(static_cast<std::uint32_t>(c))) != longest_[c]) return false;
        }
        return true;
    }
    std::int64_t find(unsigned length, std::uint32_t group = 0) const { return index_.find(length, CpuGroup(group)); }

  private:
    bool agrees(unsigned length, std::uint32_t group) const {
        const std::int64_t found = find(length, group);
        for (std::uint32_t i = 0; i < kCpuGroups; ++i) {
            const std::uint32_t other = (group + i) % kCpuGroups;
            const unsigned best = shortest_of_at_least(length, other);
            if (best == 0) continue;
            if (found < 0) return false;
            const auto chunk = static_cast<std::size_t>(found);
            return longest_.at(chunk) == best && groups_[chunk] == other;
        }
        return found < 0;
    }

    std::vector<BestFitNode> nodes_;
    std::vector<unsigned> longest_;
    std::vector<std::uint32_t> groups_;
    BestFitIndex<BestFitNode> index_;
};

RC_GTEST_PROP(BestFitIndex, AgreesWithAPlainVector, ()) {
    const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 12);
    Twin twin(chunks);
    RC_ASSERT(twin.agrees());
    using Change = std::tuple<std::uint32_t, unsigned, std::uint32_t>;
    const auto changes = *rc::gen::container<std::vector<Change>>(
        rc::gen::tuple(rc::gen::inRange<std::uint32_t>(0, chunks), rc::gen::inRange(0U, kUnitsPerChunk + 1),
                       rc::gen::inRange<std::uint32_t>(0, kCpuGroups)));
    for (const auto &[chunk, longest, group] : changes) {
        twin.set(chunk, longest);
        RC_ASSERT(twin.agrees());
        twin.assign(chunk, group);
        RC_ASSERT(twin.agrees());
    }
}

// Chunks leave a list from its ends and from its middle.
TEST(BestFitIndex, AnyOrderOfLeaving) {
    std::vector<std::uint32_t> order{0, 1, 2, 3};
    do {
        Twin twin(4);
        for (std::uint32_t c = 0; c < 4; ++c) twin.set(c, kUnitsPerChunk);
        for (const std::uint32_t c : order) {
            ASSERT_TRUE(twin.agrees());
            twin.set(c, 0);
        }
        ASSERT_TRUE(twin.agrees());
        EXPECT_EQ(twin.find(1), -1);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(BestFitIndex, WhatChangedLastIsFoundFirst) {
    Twin twin(3);
    for (const std::uint32_t c : {1U, 0U, 2U}) {
        twin.set(c, 7);
        EXPECT_EQ(twin.find(7), c) << "resident pages that are in the caches, too";
    }
    twin.set(2, 6);
    EXPECT_EQ(twin.find(7), 0);
    EXPECT_EQ(twin.find(6), 2);
}

TEST(BestFitIndex, AGroupsOwnChunksComeFirstEvenIfOthersFitTighter) {
    Twin twin(2);
    twin.assign(1, 3);
    twin.set(0, 2);
    twin.set(1, 9);
    EXPECT_EQ(twin.find(2, 0), 0);
    EXPECT_EQ(twin.find(2, 3), 1);
    EXPECT_EQ(twin.find(3, 0), 1) << "rather than none";
}

}  // namespace gr::best_fit_index_test

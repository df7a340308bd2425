// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lists by length against a plain vector of longest runs.
// Invariant: every length is asked for after every change.
// Must not know: where in a chunk a run lies.
#include "region/best_fit_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace gr::best_fit_index_test {

class Twin {
  public:
    explicit Twin(std::uint32_t chunks) : nodes_(chunks), longest_(chunks) { index_.initialise(nodes_.data()); }
    void set(std::uint32_t chunk, unsigned longest) {
        index_.set_longest_run(ChunkIndex(chunk), longest);
        longest_[chunk] = longest;
    }
    // Of 0: there is none.
    unsigned shortest_of_at_least(unsigned length) const {
        unsigned best = 0;
        for (const unsigned longest : longest_) {
            if (longest >= length && (best == 0 || longest < best)) best = longest;
        }
        return best;
    }
    bool agrees() const {
        for (unsigned length = 1; length <= kUnitsPerChunk; ++length) {
            const std::int64_t found = index_.find(length);
            const unsigned best = shortest_of_at_least(length);
            if (found < 0 ? best != 0 : longest_.at(static_cast<std::size_t>(found)) != best) return false;
        }
        for (std::size_t c = 0; c < longest_.size(); ++c) {
            if (index_.longest_run(ChunkIndex(static_cast<std::uint32_t>(c))) != longest_[c]) return false;
        }
        return true;
    }
    std::int64_t find(unsigned length) const { return index_.find(length); }

  private:
    std::vector<BestFitNode> nodes_;
    std::vector<unsigned> longest_;
    BestFitIndex<BestFitNode> index_;
};

RC_GTEST_PROP(BestFitIndex, AgreesWithAPlainVector, ()) {
    const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 12);
    Twin twin(chunks);
    RC_ASSERT(twin.agrees());
    const auto changes = *rc::gen::container<std::vector<std::pair<std::uint32_t, unsigned>>>(
        rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, chunks), rc::gen::inRange(0U, kUnitsPerChunk + 1)));
    for (const auto &[chunk, longest] : changes) {
        twin.set(chunk, longest);
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

}  // namespace gr::best_fit_index_test

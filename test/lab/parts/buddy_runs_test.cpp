// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: buddy runs against a row of pages: what may be free together is free together, and nothing else.
// Invariant: compared whole after every step; each page belongs to a run or to the header, or is free.
// Must not know: how the runs are found.
#include "parts/jemalloc/buddy_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace gr::lab::buddy_runs_test {

constexpr unsigned kMost = 9;
using Runs = BuddyRuns<kMost>;

// Pages that are taken, and what follows for whole runs: one of 2^k pages is free if all its pages are, and the longer one
// that it is half of is not.
class Reference {
  public:
    Reference(unsigned order, std::uint32_t taken) : order_(order), is_taken_(std::size_t{1} << order) {
        mark(0, taken, true);
    }
    void mark(std::uint32_t first, std::uint32_t count, bool taken) {
        for (std::uint32_t page = first; page < first + count; ++page) {
            ASSERT_NE(is_taken_[page], taken) << "page " << page;
            is_taken_[page] = taken;
        }
    }
    bool is_whole(std::uint32_t page, unsigned order) const {
        const auto begin = is_taken_.begin() + page;
        return std::count(begin, begin + (1 << order), true) == 0;
    }
    bool is_free_run(std::uint32_t page, unsigned order) const {
        const std::uint32_t longer = page & ~((std::uint32_t{2} << order) - 1);
        return is_whole(page, order) && (order == order_ || !is_whole(longer, order + 1));
    }
    // Of the longest run, and one; 0: nothing is free.
    unsigned above_longest() const {
        for (unsigned order = order_ + 1; order-- != 0;)
            for (std::uint32_t page = 0; page < is_taken_.size(); page += std::uint32_t{1} << order)
                if (is_whole(page, order)) return order + 1;
        return 0;
    }
    void compare(const Runs &runs) const {
        ASSERT_EQ(runs.free_pages(), static_cast<std::size_t>(std::count(is_taken_.begin(), is_taken_.end(), false)));
        ASSERT_EQ(runs.above_longest(), above_longest());
        for (unsigned order = 0; order <= order_; ++order)
            for (std::uint32_t page = 0; page < is_taken_.size(); page += std::uint32_t{1} << order)
                ASSERT_EQ(runs.is_free(page >> order, order), is_free_run(page, order)) << page << ", 2^" << order;
    }

  private:
    unsigned order_;
    std::vector<bool> is_taken_;
};

TEST(BuddyRunsTest, RandomRunsAgreeWithARowOfPages) {
    std::mt19937 engine(3);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    for (int round = 0; round < 60; ++round) {
        const unsigned order = 2 + random() % (kMost - 1);
        const std::uint32_t taken = 1 + random() % ((1U << order) - 1);
        std::vector<Word> words(Runs::words_for(order));
        Runs runs;
        runs.start(words.data(), order, taken);
        Reference reference(order, taken);
        reference.compare(runs);
        std::map<std::uint32_t, unsigned> mine;
        for (int step = 0; step < 150; ++step) {
            if (mine.empty() || random() % 5 < 3) {
                const unsigned wanted = random() % 4 == 0 ? random() % (order + 1) : random() % 3 % (order + 1);
                const std::uint32_t page = runs.take(wanted);
                ASSERT_EQ(page == Runs::kNone, reference.above_longest() <= wanted);
                if (page == Runs::kNone) continue;
                ASSERT_EQ(page % (1U << wanted), 0U);
                reference.mark(page, 1U << wanted, true);
                mine[page] = wanted;
            } else {
                const auto at = std::next(mine.begin(), static_cast<std::ptrdiff_t>(random() % mine.size()));
                runs.put(at->first, at->second);
                reference.mark(at->first, 1U << at->second, false);
                mine.erase(at);
            }
            ASSERT_NO_FATAL_FAILURE(reference.compare(runs)) << "round " << round << ", step " << step;
        }
        for (const auto &[page, length] : mine) {
            runs.put(page, length);
            reference.mark(page, 1U << length, false);
        }
        ASSERT_NO_FATAL_FAILURE(reference.compare(runs));
    }
}

TEST(BuddyRunsTest, NeighboursThatAreNoBuddiesStayApart) {
    std::vector<Word> words(Runs::words_for(3));
    Runs runs;
    runs.start(words.data(), 3, 1);  // free: 1, 2-3, 4-7
    for (const std::uint32_t page : {1U, 2U, 3U, 4U, 5U, 6U, 7U}) ASSERT_EQ(runs.take(0), page);
    ASSERT_EQ(runs.take(0), Runs::kNone);
    runs.put(1, 0);
    runs.put(2, 0);
    EXPECT_EQ(runs.above_longest(), 1U) << "1 and 2 are halves of different runs";
    runs.put(3, 0);
    EXPECT_TRUE(runs.is_free(1, 1));
    EXPECT_FALSE(runs.is_free(2, 0));
    EXPECT_EQ(runs.take(1), 2U);
    EXPECT_EQ(runs.take(1), Runs::kNone);
}

TEST(BuddyRunsTest, TheShortestRunThatDoesIsSplit) {
    std::vector<Word> words(Runs::words_for(4));
    Runs runs;
    runs.start(words.data(), 4, 1);  // free: 1, 2-3, 4-7, 8-15
    EXPECT_EQ(runs.take(1), 2U);
    EXPECT_EQ(runs.take(1), 4U) << "of 4-7, not of 8-15";
    EXPECT_TRUE(runs.is_free(3, 1));
    EXPECT_TRUE(runs.is_free(1, 3));
}

}  // namespace gr::lab::buddy_runs_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: long random histories over three heaps: allocate anywhere, free to busy and idle owners, reclaim in between.
// Invariant: no block is handed out twice, every live block keeps its bytes, is_valid() again and again, and nothing
//    is left at the end.
// Must not know: requests in bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <unordered_map>
#include <vector>

#include "heap/world.hpp"

namespace gr::random_test {

using fake::Call;
using fake::World;

struct Plan {
    const char *name;
    std::uint32_t first_class;
    std::uint32_t classes;
    std::size_t live;
    std::size_t budget;
    bool refusals;
};

void PrintTo(const Plan &plan, std::ostream *out) { *out << plan.name; }

class History : public testing::TestWithParam<Plan> {
  protected:
    std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
    void allocate() {
        const ClassIndex c(GetParam().first_class + below(GetParam().classes));
        char *const p = static_cast<char *>(world_.allocate_in(below(fake::kStripes), c));
        if (p == nullptr) {
            ASSERT_TRUE(GetParam().refusals);
            return;
        }
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0U);
        ASSERT_EQ(world_.superblocks.find(p).fault, BlockFault::none);
        ASSERT_FALSE(world_.is_free(p)) << "free and handed out";
        ASSERT_TRUE(where_.emplace(p, blocks_.size()).second) << "handed out twice";
        blocks_.push_back(p);
        mark(p, shape_of(c).size);
    }
    void free() {
        const std::size_t i = below(blocks_.size());
        char *const p = blocks_[i];
        ASSERT_TRUE(is_marked(p)) << "a live block was written to";
        blocks_[i] = blocks_.back();
        where_[blocks_[i]] = i;
        blocks_.pop_back();
        where_.erase(p);
        if (below(2) == 0) {
            world_.free(p);
        } else {
            world_.free_remotely(p);
        }
    }
    static void mark(char *p, std::size_t size) {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        std::memcpy(p, &address, sizeof address);
        std::memcpy(p + size - sizeof address, &address, sizeof address);
    }
    bool is_marked(char *p) const {
        const std::size_t size = world_.superblock_of(p)->shape().size;
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        return std::memcmp(p, &address, sizeof address) == 0 &&
               std::memcmp(p + size - sizeof address, &address, sizeof address) == 0;
    }
    void finish() {
        fake::fail(Call::commit, 0, 0);
        while (!blocks_.empty()) free();
        world_.heaps.reclaim();
        EXPECT_TRUE(world_.is_valid());
        EXPECT_EQ(world_.pages.used_bytes(), 0U) << "blocks were forgotten";
    }

    World world_{{.chunks = 32, .budget = GetParam().budget}};
    std::vector<char *> blocks_;
    std::unordered_map<char *, std::size_t> where_;
    std::mt19937 random_{11};
};

TEST_P(History, LosesAndDoublesNothing) {
    for (int step = 0; step < 40000; ++step) {
        // The number of live blocks swings, so that superblocks fill and empty.
        const std::size_t target = step / 5000 % 2 == 0 ? GetParam().live : GetParam().live / 10;
        if (GetParam().refusals && below(50) == 0) fake::fail(Call::commit, below(3), 1 + below(4));
        if (blocks_.empty() || below(2 * target + 1) >= blocks_.size()) {
            allocate();
        } else {
            free();
        }
        if (below(5000) == 0) world_.heaps.reclaim();
        ASSERT_FALSE(HasFatalFailure()) << "step " << step;
        if (step % 64 == 0) {
            ASSERT_TRUE(world_.is_valid()) << "step " << step;
        }
    }
    finish();
}

INSTANTIATE_TEST_SUITE_P(Heaps, History,
                         testing::Values(Plan{"OneSmallClass", 1, 1, 20000, kMagazineBudget, false},
                                         Plan{"OneMiddleClass", 40, 1, 4000, kMagazineBudget, false},
                                         Plan{"LargeClasses", 90, 15, 300, kMagazineBudget, false},
                                         Plan{"AllClasses", 1, kClassCount - 1, 2000, kMagazineBudget, false},
                                         Plan{"NoMagazines", 1, kClassCount - 1, 2000, 0, false},
                                         Plan{"Refusals", 60, 45, 1200, 16 * kKiB, true}),
                         [](const auto &plan) { return std::string(plan.param.name); });

}  // namespace gr::random_test

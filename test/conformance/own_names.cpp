// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      the libc family under the names of <granary/malloc.h>.
// Invariant: in libgranary they are the functions of libc's names, so blocks go from one to the other.
// Must not know: how names are made.
#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <utility>

namespace gr::conformance {
namespace {

class OwnNames : public testing::Test {
  protected:
    void SetUp() override {
        if (!black_box::granary_in_use()) GTEST_SKIP() << "only Granary has it";
    }
};

TEST_F(OwnNames, EachDoesWhatItsNamesakeDoes) {
    const uint64_t live = black_box::statistics().live_blocks;
    for (std::size_t size : boundary_sizes()) {
        void *block = gr_malloc(size);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(gr_malloc_usable_size(block), gr_good_size(size));
        fill(block, size, size);
        block = gr_realloc(block, size + 1);
        EXPECT_TRUE(filled(block, size, size));
        block = gr_reallocarray(block, size + 1, 2);
        EXPECT_TRUE(filled(block, size, size));
        EXPECT_GE(gr_malloc_usable_size(block), 2 * (size + 1));
        gr_free(block);
        block = gr_calloc(size, 3);
        EXPECT_TRUE(all_zero(block, 3 * size));
        gr_free_sized(block, 3 * size);
        block = gr_aligned_alloc(512, size);
        EXPECT_TRUE(aligned(block, 512));
        gr_free_aligned_sized(block, 512, size);
        block = nullptr;
        EXPECT_EQ(gr_posix_memalign(&block, 1024, size), 0);
        EXPECT_TRUE(aligned(block, 1024));
        gr_free(block);
    }
    EXPECT_EQ(black_box::statistics().live_blocks, live);
}

TEST_F(OwnNames, RefuseWhatTheirNamesakesRefuse) {
    void *block = nullptr;
    EXPECT_EQ(gr_posix_memalign(&block, 24, 1), EINVAL);
    EXPECT_EQ(gr_posix_memalign(&block, 4, 1), EINVAL);
    EXPECT_EQ(gr_posix_memalign(&block, 64, opaque(SIZE_MAX)), ENOMEM);
    EXPECT_EQ(block, nullptr);
    const auto refuses = [](void *result, int error) {
        EXPECT_EQ(opaque(result), nullptr);
        EXPECT_EQ(std::exchange(errno, 0), error);
    };
    block = gr_malloc(100);
    fill(block, 100, 9);
    errno = 0;
    refuses(gr_malloc(opaque(SIZE_MAX)), ENOMEM);
    refuses(gr_calloc(opaque(SIZE_MAX / 2), 3), ENOMEM);
    refuses(gr_realloc(block, opaque(kPtrdiffMax + 1)), ENOMEM);
    refuses(gr_reallocarray(block, opaque(SIZE_MAX / 2), 3), ENOMEM);
    refuses(gr_aligned_alloc(opaque(SIZE_MAX), 1), EINVAL);
    EXPECT_TRUE(filled(block, 100, 9));
    EXPECT_EQ(opaque(gr_realloc(block, 0)), nullptr);
    gr_free(nullptr);
    EXPECT_EQ(gr_malloc_usable_size(nullptr), 0u);
    EXPECT_EQ(errno, 0);
}

TEST_F(OwnNames, BlocksGoFromOneNameToTheOther) {
    for (std::size_t size : {std::size_t{10}, std::size_t{5000}, 100 * kKiB, 64 * kMiB}) {
        std::free(opaque(std::realloc(opaque(gr_malloc(size)), size + 100)));
        gr_free(opaque(gr_realloc(opaque(std::malloc(size)), size + 100)));
        void *const block = opaque(gr_malloc(size));
        EXPECT_EQ(malloc_usable_size(block), gr_malloc_usable_size(block));
        std::free(block);
    }
}

}  // namespace
}  // namespace gr::conformance

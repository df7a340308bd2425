// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what holds of boundary tags at any time: both of a block tell the same, and no neighbours are free in one heap.
// Invariant: looks at each block.
// Must not know: lists, and how the blocks came to be.
#pragma once

#include <gtest/gtest.h>

#include "parts/layout/block_tag.hpp"

namespace gr::lab {

// The trailer is read where the header says that it lies.
inline void expect_both_tags(const void *block) {
    const BlockTag tag = tag_of(block);
    const BlockTag end = tag_of(static_cast<const char *>(block) + tag.bytes - kTagBytes);
    ASSERT_EQ(end.bytes, tag.bytes);
    ASSERT_EQ(end.heap, tag.heap);
    ASSERT_EQ(end.state, tag.state == BlockState::free ? BlockState::free : BlockState::in_use);
}

// From a region's first block to its end.
template <class Tags>
void expect_coalesced(const char *region) {
    const char *block = region + Tags::kTagsBytes;
    while (block != region + Tags::kRegionBytes) {
        ASSERT_LT(block, region + Tags::kRegionBytes);
        expect_both_tags(block);
        const BlockTag tag = tag_of(block);
        if (tag.state == BlockState::free) {
            ASSERT_EQ(Tags::free_before(block, tag.heap), nullptr);
            ASSERT_EQ(Tags::free_after(block, tag.heap), nullptr);
        }
        block += tag.bytes;
    }
}

}  // namespace gr::lab

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: boundary tags (Knuth's; Wasik 5.10, figure 5.1): a tag before each block and a tag behind it, so that an
//    addition or a subtraction leads to a block's neighbours; splitting and joining.
// Invariant: the blocks of a region lie without gaps from its 8th byte to its 8th last. A block is a header, the
//    program's bytes and a trailer; each header lies at 8 mod 16. Both tags have the same bytes and the same heap. The
//    header has the block's state; the trailer's state is free where the block is free, else in_use. The first and the
//    last 8 bytes of a region stay zero, which is no tag, so no block is joined beyond them. Where blocks were joined,
//    the tags between them are erased.
// Must not know: lists and locks.
#pragma once

#include <algorithm>

#include "base/check.hpp"
#include "parts/layout/block_tag.hpp"
#include "parts/lists/linked_list.hpp"

namespace gr::lab {

// Regions have kRegion bytes and lie at multiples of kRegion. Node: what a free block holds.
template <std::size_t kRegion, class Node = ListNode>
struct BoundaryTags : TaggedBlocks {
    static_assert(is_power_of_two(kRegion) && kRegion <= std::size_t{1} << 31,
                  "a region is found by dropping the lower bits of an address");

    static constexpr std::size_t kRegionBytes = kRegion;
    static constexpr std::size_t kTagsBytes = 2 * kTagBytes;
    static constexpr std::size_t kWholeBytes = kRegion - 2 * kTagBytes;  // of the block that is a whole region
    static constexpr std::size_t kLeastBytes = align_up(kTagsBytes + sizeof(Node), kAlignment);

    // Of a block for a request.
    static constexpr std::size_t bytes_for(std::size_t size) {
        return std::max(align_up(size + kTagsBytes, kAlignment), kLeastBytes);
    }
    static std::size_t bytes_of(const void *block) { return tag_of(block).bytes; }
    static std::size_t usable_size(const void *p) { return TaggedBlocks::usable_size(p, 2); }

    // Makes one block, which is in no list, of a region that is all zero.
    static void *make_whole(char *region) {
        void *const block = region + 2 * kTagBytes;
        set_tags(block, kWholeBytes, 0, BlockState::cached);
        show::made(region, kRegion);
        return block;
    }
    // A region from its begin to its end, block by block.
    static void draw_piece(auto &picture, const void *region, std::size_t bytes) {
        picture.container(region, show::ContainerKind::buffer, 0, 0, bytes);
        const char *at = static_cast<const char *>(region) + 2 * kTagBytes;
        for (const char *const end = static_cast<const char *>(region) + bytes; at < end; at += bytes_of(at))
            picture.range(region, at, bytes_of(at));
    }
    static void set_tags(void *block, std::size_t bytes, HeapNumber heap, BlockState state) {
        BlockTag tag{static_cast<std::uint32_t>(bytes), heap & kHeapMask, state};
        set_tag(block, tag);
        if (state != BlockState::free) tag.state = BlockState::in_use;
        set_tag(end_of(block, bytes), tag);
    }
    // Shortens a block to so many bytes and returns the rest as a block of the same state; nullptr: the rest is too
    // small for a block, and the block stays as it is.
    static void *split(void *block, std::size_t bytes) {
        const BlockTag tag = tag_of(block);
        GR_CHECK(tag.bytes >= bytes);
        const std::size_t rest_bytes = tag.bytes - bytes;
        if (rest_bytes < kLeastBytes) return nullptr;
        void *const rest = static_cast<char *>(block) + bytes;
        set_tags(rest, rest_bytes, tag.heap, tag.state);
        set_tags(block, bytes, tag.heap, tag.state);
        return rest;
    }
    // The neighbour, if it is free in that heap's list; else nullptr. Only the calling thread puts blocks into the
    // heap's list or takes blocks from it, so a tag that says so is true. Any other tag may change meanwhile, and is
    // used for nothing but the answer nullptr.
    static void *free_before(const void *block, HeapNumber heap) {
        const BlockTag tag = tag_of(static_cast<const char *>(block) - kTagBytes);
        if (tag.state != BlockState::free || tag.heap != heap) return nullptr;
        return const_cast<char *>(static_cast<const char *>(block)) - tag.bytes;
    }
    static void *free_after(const void *block, HeapNumber heap) {
        void *const next = const_cast<char *>(static_cast<const char *>(block)) + bytes_of(block);
        const BlockTag tag = tag_of(next);
        return tag.state == BlockState::free && tag.heap == heap ? next : nullptr;
    }
    // Two neighbours, neither of them in a list.
    static void *join(void *first, void *second) {
        const BlockTag tag = tag_of(first);
        GR_CHECK(static_cast<char *>(first) + tag.bytes == second);
        const std::size_t second_bytes = bytes_of(second);
        set_tag(end_of(first, tag.bytes), {});
        set_tag(second, {});
        set_tags(first, tag.bytes + second_bytes, tag.heap, tag.state);
        return first;
    }
    // Checks a block that the program frees. If header and trailer differ, the address is no block's, or the program
    // wrote beyond the block's end.
    static void take_back(void *block) {
        const BlockTag tag = tag_of(block);
        const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) % kRegion;
        if (tag.bytes % kAlignment != 0 || tag.bytes < kLeastBytes || offset + tag.bytes > kRegion)
            die_of_no_block(block);
        const BlockTag end = tag_of(end_of(block, tag.bytes));
        if (end.state != BlockState::in_use || end.bytes != tag.bytes || end.heap != tag.heap)
            die(block, "memory behind the block was overwritten, or no block begins here");
        TaggedBlocks::take_back(block);
    }

  private:
    // The trailer lies below it, as a header lies below its block.
    static void *end_of(const void *block, std::size_t bytes) {
        return const_cast<char *>(static_cast<const char *>(block)) + bytes - kTagBytes;
    }
};

}  // namespace gr::lab

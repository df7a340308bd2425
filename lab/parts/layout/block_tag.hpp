// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the individual header (Wasik 3.1.2): a word in front of each block with the block's length, owner and state.
// Invariant: a tag lies kTagBytes below a multiple of kAlignment. A block's address leads to its tag and back by a
//    subtraction. A state is no small number, so that memory that is no header is seldom taken for one.
// Must not know: lists and heaps; whether there is a trailer, too.
#pragma once

#include <atomic>
#include <bit>

#include "base/bits.hpp"
#include "parts/contract/allocator.hpp"
#include "parts/memory/misuse.hpp"
#include "parts/memory/wilderness.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

enum class BlockState : std::uint8_t {
    none = 0,
    free = 0x5a,    // in a heap's list
    cached = 0x3c,  // freed, and not yet there: in a buffer, a remote list, on its way
    in_use = 0xa6,
    large = 0x93,      // mapped alone; the mapping's bytes stand at its begin
    displaced = 0xc5,  // an aligned address inside of a block, `bytes` behind the block's own
};

using HeapNumber = std::uint32_t;                        // 0: no heap's
inline constexpr HeapNumber kHeapMask = (1U << 24) - 1;  // of all that there are

struct BlockTag {
    std::uint32_t bytes = 0;  // of the block with its headers
    std::uint32_t heap : 24 = 0;
    BlockState state : 8 = BlockState::none;
};

inline constexpr std::size_t kTagBytes = sizeof(BlockTag);
static_assert(kTagBytes == sizeof(std::uint64_t), "a tag is one word");

// A thread may read a neighbour's tag while the neighbour's owner writes it. relaxed: the tag of a block in the
// reader's own heap is ordered by that heap's lock, and from any other tag the reader concludes nothing.
inline BlockTag tag_of(const void *block) {
    auto *const word = reinterpret_cast<std::uint64_t *>(reinterpret_cast<std::uintptr_t>(block) - kTagBytes);
    return std::bit_cast<BlockTag>(std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_relaxed));
}
inline void set_tag(void *block, BlockTag tag) {
    auto *const word = reinterpret_cast<std::uint64_t *>(static_cast<char *>(block) - kTagBytes);
    std::atomic_ref<std::uint64_t>(*word).store(std::bit_cast<std::uint64_t>(tag), std::memory_order_relaxed);
}

// Beyond it a tag could not tell the distance.
inline constexpr std::size_t kMostTaggedAlignment = std::size_t{1} << 31;

// What every store of blocks with tags has in common (block_store.hpp).
struct TaggedBlocks {
    static constexpr std::size_t kHeadBytes = 2 * kTagBytes;  // of a mapping: its bytes, the tag

    // The block that an address which the program has belongs to: itself, or that which an aligned one lies in. Dies of what
    // is no block in use.
    static void *block_of(const void *p) {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        if (address % kAlignment != 0) die_of_no_block(p);
        const BlockTag tag = tag_of(p);
        if (tag.state == BlockState::in_use || tag.state == BlockState::large) [[likely]]
            return const_cast<void *>(p);
        if (tag.state != BlockState::displaced) die_of_no_block(p);
        void *const block = reinterpret_cast<void *>(address - tag.bytes);
        const BlockState own = tag_of(block).state;
        if (own != BlockState::in_use && own != BlockState::large) die_of_no_block(p);
        return block;
    }
    static bool is_large(const void *block) { return tag_of(block).state == BlockState::large; }
    static HeapNumber heap_of(const void *block) { return tag_of(block).heap; }
    // In a block that is `alignment` longer than was asked for, the first address that is aligned.
    static void *aligned_in(void *block, std::size_t alignment) {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        const std::size_t distance = align_up(address, alignment) - address;
        if (distance == 0) return block;
        char *const p = static_cast<char *>(block) + distance;
        set_tag(p, {static_cast<std::uint32_t>(distance), 0, BlockState::displaced});
        return p;
    }
    static void *hand_out(void *block) {
        set_state(block, BlockState::in_use);
        return block;
    }
    static void take_back(void *block) { set_state(block, BlockState::cached); }
    static void set_state(void *block, BlockState state) {
        BlockTag tag = tag_of(block);
        tag.state = state;
        set_tag(block, tag);
    }

    // Above the largest bin: a mapping for each block, given back when it is freed (Wasik 5.1).
    static void *allocate_large(std::size_t size, std::size_t alignment) {
        if (alignment > kMostTaggedAlignment) return nullptr;
        const std::size_t more = alignment > kAlignment ? alignment : 0;
        const std::size_t bytes = align_up(size + more + kHeadBytes, platform::page_size());
        char *const mapping = static_cast<char *>(platform::map(bytes, 1));
        if (mapping == nullptr) return nullptr;
        Held::took(bytes);
        *reinterpret_cast<std::size_t *>(mapping) = bytes;
        set_tag(mapping + kHeadBytes, {0, 0, BlockState::large});
        show::made_alone(mapping, bytes);
        return aligned_in(mapping + kHeadBytes, alignment);
    }
    static std::size_t mapped_bytes(const void *block) {
        return *reinterpret_cast<const std::size_t *>(static_cast<const char *>(block) - kHeadBytes);
    }
    static void free_large(void *block) {
        show::unmade(static_cast<char *>(block) - kHeadBytes);
        Held::gave(mapped_bytes(block));
        platform::unmap(static_cast<char *>(block) - kHeadBytes, mapped_bytes(block));
    }
    static void draw_large(auto &picture, auto place, const void *begin, std::size_t bytes) {
        picture.container(begin, show::ContainerKind::container, bytes, 1, bytes);
        picture.stands(begin, place);
        picture.block(begin, 0, static_cast<const char *>(begin) + kHeadBytes, bytes - kHeadBytes);
    }
    // From p on: the block, or an aligned address in it. `tags`: so many words of a small block are no program's.
    static std::size_t usable_size(const void *p, unsigned tags) {
        const char *const block = static_cast<const char *>(block_of(p));
        const std::size_t bytes =
            is_large(block) ? mapped_bytes(block) - kHeadBytes : tag_of(block).bytes - tags * kTagBytes;
        return bytes - static_cast<std::size_t>(static_cast<const char *>(p) - block);
    }
};

}  // namespace gr::lab

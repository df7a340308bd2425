// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the object container (Wasik 3.1.2; Hoard's and LFMalloc's superblock): blocks of one size behind one header,
//       which an address leads to by dropping its lower bits.
// Invariant: used + free.count() + blocks never taken = blocks. A container begins at a multiple of its size; an address
//            that the program has is never the begin, so that of a larger alignment leads to the container before it.
//            What heap it is of changes under that heap's lock, or while no block is in use.
// Must not know: who has the container, and in which list it is.
#pragma once

#include <atomic>
#include <new>

#include "base/bits.hpp"
#include "parts/block_tag.hpp"
#include "parts/free_list.hpp"
#include "parts/held.hpp"
#include "parts/linked_list.hpp"

namespace gr::lab {

struct alignas(kCacheLineBytes) Container : ListNode {
    static constexpr std::uint32_t kMark = 0xc0a7a17e;

    std::uint32_t mark = 0;  // kMark while it is one
    std::uint32_t bin = 0;
    std::uint32_t block_bytes = 0;  // 0: it is a large block's, alone in its mapping
    std::uint32_t blocks = 0;
    std::uint32_t used = 0;
    std::uint32_t fresh = 0;  // so many were ever taken: what follows is the allocation buffer (3.1.5)
    FreeList free;
    std::atomic<HeapNumber> heap{0};  // relaxed where its lock is held; else acquire, with the release of who moved it
    std::atomic<bool> holds_displaced{false};  // an aligned address inside of a block was handed out; for ever
    std::atomic<Container *> below{nullptr};   // of a lock-free stack
    char *first_block;                         // behind the header, or elsewhere
    std::size_t place_bytes;                   // from there on
    char *mapping = nullptr;                   // of a large block
    std::size_t mapped_bytes = 0;

    Container(char *place, std::size_t bytes) : first_block(place), place_bytes(bytes) {}

    bool is_full() const { return used == blocks; }
    bool is_empty() const { return used == 0; }

    // For blocks of another size, while none is in use.
    void format(unsigned new_bin, std::size_t size) {
        mark = kMark;
        bin = new_bin;
        block_bytes = static_cast<std::uint32_t>(size);
        blocks = static_cast<std::uint32_t>(place_bytes / size);
        used = 0;
        fresh = 0;
        free = FreeList();
        holds_displaced.store(false, std::memory_order_relaxed);
    }
    // What was freed last, else one that was never taken; nullptr: all are in use.
    void *take() {
        void *block = free.pop();
        if (block == nullptr) {
            if (fresh == blocks) return nullptr;
            block = first_block + std::size_t{fresh++} * block_bytes;
        }
        ++used;
        return block;
    }
    void put(void *block) {
        if (used == 0) die_of_no_block(block);
        free.push(block);
        --used;
    }
    bool is_valid() const { return mark == kMark && used <= blocks && used + free.count() <= fresh && fresh <= blocks; }
};

static_assert(sizeof(Container) % kAlignment == 0);

// The block that an address which the program has belongs to.
inline void *block_in(Container *container, const void *p) {
    if (container->mark != Container::kMark) die_of_no_block(p);
    if (!container->holds_displaced.load(std::memory_order_relaxed)) [[likely]]
        return const_cast<void *>(p);
    if (container->block_bytes == 0) return container->first_block;
    const auto offset = static_cast<std::size_t>(static_cast<const char *>(p) - container->first_block);
    return container->first_block + offset / container->block_bytes * container->block_bytes;
}

// Above the largest bin: a container of one block in a mapping of its own, which begins where that of any address in it
// would: kBytes is the size of containers, or the largest that was to be chosen from.
template <std::size_t kBytes>
struct ContainedLargeBlocks {
    static void *allocate(std::size_t size, std::size_t alignment, std::size_t container_bytes = kBytes) {
        const std::size_t near = alignment < container_bytes ? alignment : container_bytes;
        const std::size_t offset = align_up(sizeof(Container), near);  // of the address that the program has
        const std::size_t lead = alignment - near;
        // Of nothing a byte: the address behind a mapping is another's.
        const std::size_t bytes = align_up(lead + offset + size + (size == 0), platform::page_size());
        char *const mapping = static_cast<char *>(platform::map(bytes, lead == 0 ? container_bytes : alignment));
        if (mapping == nullptr) return nullptr;
        Held::took(bytes);
        char *const begin = mapping + lead;
        char *const first = begin + sizeof(Container);
        auto *const container = new (begin) Container(first, 0);
        container->mark = Container::kMark;
        container->mapping = mapping;
        container->mapped_bytes = bytes;
        if (offset != sizeof(Container)) container->holds_displaced.store(true, std::memory_order_relaxed);
        return begin + offset;
    }
    static bool is_large(const Container *container) { return container->block_bytes == 0; }
    // From p on, which is the block or an aligned address in it.
    static std::size_t usable_size(const Container *container, const void *p) {
        return static_cast<std::size_t>(container->mapping + container->mapped_bytes - static_cast<const char *>(p));
    }
    static void free(Container *container) {
        container->mark = 0;
        Held::gave(container->mapped_bytes);
        platform::unmap(container->mapping, container->mapped_bytes);
    }
};

}  // namespace gr::lab

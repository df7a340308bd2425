// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the object container (Wasik 3.1.2; Hoard's and LFMalloc's superblock): blocks of one size behind one header, which an
//       address leads to by dropping its lower bits.
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
    char *mapping = nullptr;                   // of a large block
    std::size_t mapped_bytes = 0;
    std::atomic<Container *> below{nullptr};  // of a lock-free stack

    char *first_block() { return reinterpret_cast<char *>(this + 1); }
    bool is_full() const { return used == blocks; }
    bool is_empty() const { return used == 0; }
    std::size_t usable_bytes() const { return std::size_t{blocks} * block_bytes; }

    // For blocks of another size, none of them in use.
    void format(unsigned new_bin, std::size_t size, std::size_t container_bytes) {
        mark = kMark;
        bin = new_bin;
        block_bytes = static_cast<std::uint32_t>(size);
        blocks = static_cast<std::uint32_t>((container_bytes - sizeof(Container)) / size);
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
            block = first_block() + std::size_t{fresh++} * block_bytes;
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

// Where containers all have one size.
template <std::size_t kBytes>
struct FixedContainers {
    static_assert(is_power_of_two(kBytes) && kBytes > sizeof(Container));

    static constexpr std::size_t kContainerBytes = kBytes;
    // Two blocks fit at least (5.3).
    static constexpr std::size_t kLargestBlock = align_down((kBytes - sizeof(Container)) / 2, kAlignment);

    static Container *container_of(const void *p) {
        return reinterpret_cast<Container *>(align_down(reinterpret_cast<std::uintptr_t>(p) - 1, kBytes));
    }
};

// The block that an address which the program has belongs to.
inline void *block_in(Container *container, const void *p) {
    if (container->mark != Container::kMark) die_of_no_block(p);
    if (!container->holds_displaced.load(std::memory_order_relaxed)) [[likely]]
        return const_cast<void *>(p);
    if (container->block_bytes == 0) return container->first_block();
    const auto offset = static_cast<std::size_t>(static_cast<const char *>(p) - container->first_block());
    return container->first_block() + offset / container->block_bytes * container->block_bytes;
}

// Above the largest bin: a container of one block in a mapping of its own. Containers<...>::container_of finds it.
template <class Containers>
struct ContainedLargeBlocks {
    // Room for the header before an aligned block, at a multiple of the containers' size.
    static void *allocate(std::size_t size, std::size_t alignment) {
        constexpr std::size_t kBytes = Containers::kContainerBytes;
        const std::size_t before = alignment >= kBytes ? alignment : kBytes;
        const std::size_t bytes = align_up(size + before, platform::page_size());
        char *const mapping = static_cast<char *>(platform::map(bytes, before));
        if (mapping == nullptr) return nullptr;
        char *const begin = alignment >= kBytes ? mapping + before - kBytes : mapping;
        auto *const container = new (begin) Container();
        container->mark = Container::kMark;
        container->mapping = mapping;
        container->mapped_bytes = bytes;
        if (alignment <= sizeof(Container)) return container->first_block();
        container->holds_displaced.store(true, std::memory_order_relaxed);
        return alignment >= kBytes ? begin + kBytes : begin + align_up(sizeof(Container), alignment);
    }
    static bool is_large(const Container *container) { return container->block_bytes == 0; }
    // From p on, which is the block or an aligned address in it.
    static std::size_t usable_size(const Container *container, const void *p) {
        return static_cast<std::size_t>(container->mapping + container->mapped_bytes - static_cast<const char *>(p));
    }
    static void free(Container *container) {
        container->mark = 0;
        platform::unmap(container->mapping, container->mapped_bytes);
    }
};

}  // namespace gr::lab

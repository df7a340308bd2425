// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the object container (Wasik 3.1.2; Hoard's superblock, and LFMalloc's as 5.1 plans it: in 3.2 each block has a
//    pointer to its own): blocks of one size behind one header, which an address leads to by dropping its lower bits.
// Invariant: used + free.count() + blocks never taken = blocks. A container begins at a multiple of its size; an
//    address that the program has is never the begin, so that of a larger alignment leads to the container before it.
//    What heap it is of changes under that heap's lock, or while no block is in use.
// Must not know: which heap has the container, and in which list it is.
#pragma once

#include <atomic>
#include <new>

#include "base/bits.hpp"
#include "parts/layout/block_tag.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/lists/linked_list.hpp"
#include "parts/memory/wilderness.hpp"

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
    std::atomic<HeapNumber> heap{0};  // relaxed under the heap's lock; else acquire, with the release of each move
    std::atomic<bool> holds_displaced{false};  // an aligned address inside of a block was handed out; for ever
    std::atomic<Container *> below{nullptr};   // of a lock-free stack
    char *first_block;                         // behind the header, or elsewhere
    std::size_t place_bytes;                   // from there on
    char *mapping = nullptr;                   // of a large block
    std::size_t mapped_bytes = 0;

    Container(char *place, std::size_t bytes) : first_block(place), place_bytes(bytes) {}

    // In memory that only the caller has. nullptr: memory is nullptr.
    static Container *make(char *memory, std::size_t bytes) {
        if (memory == nullptr) return nullptr;
        show::made(memory, bytes);
        return new (memory) Container(memory + sizeof(Container), bytes - sizeof(Container));
    }
    // That an address leads to where containers lie at multiples of so many bytes.
    static Container *at(const void *p, std::size_t bytes) {
        return reinterpret_cast<Container *>(align_down(reinterpret_cast<std::uintptr_t>(p) - 1, bytes));
    }

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
    // To a heap, for blocks of this size, while no other thread can find the container.
    void move_to(HeapNumber to, unsigned wanted, std::size_t size) {
        if (mark != kMark || bin != wanted) format(wanted, size);
        heap.store(to, std::memory_order_release);  // pairs with heap_of
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
    // Its blocks as far as they were ever taken; those of its free list are free, others may lie in another list.
    void draw(auto &picture, show::ContainerKind kind) const {
        picture.container(this, kind, block_bytes, blocks, place_bytes + sizeof(Container));
        for (std::uint32_t i = 0; i < fresh; ++i)
            picture.block(this, i, first_block + std::size_t{i} * block_bytes, block_bytes);
        free.for_each([&](const void *block) { picture.inside(block, show::Shown::free); });
    }
};

static_assert(sizeof(Container) % kAlignment == 0, "blocks begin behind the container, aligned");

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
// would: at a multiple of Place::container_bytes(), the size of containers, or the largest where there are several.
template <class Place>
struct ContainedLargeBlocks {
    static void *allocate(std::size_t size, std::size_t alignment) {
        const std::size_t container_bytes = Place::container_bytes();
        const std::size_t near = alignment < container_bytes ? alignment : container_bytes;
        const std::size_t offset = align_up(sizeof(Container), near);  // of the address that the program has
        const std::size_t lead = alignment - near;
        // Of nothing a byte: the address behind a mapping is another's.
        const std::size_t bytes = align_up(lead + offset + size + (size == 0), platform::page_size());
        char *const mapping = static_cast<char *>(platform::map(bytes, lead == 0 ? container_bytes : alignment));
        if (mapping == nullptr) return nullptr;
        Held::took(bytes);
        char *const begin = mapping + lead;
        auto *const container = Container::make(begin, sizeof(Container));
        container->mark = Container::kMark;
        container->mapping = mapping;
        container->mapped_bytes = bytes;
        if (offset != sizeof(Container)) container->holds_displaced.store(true, std::memory_order_relaxed);
        show::made_alone(container, bytes);
        return begin + offset;
    }
    static void free(Container *container) {
        container->mark = 0;
        show::unmade(container);
        Held::gave(container->mapped_bytes);
        platform::unmap(container->mapping, container->mapped_bytes);
    }
};

// What all blocks in containers have in common. Place: where an address finds its container, and the large ones.
template <class Place>
struct InContainers {
    static HeapNumber heap_of(const void *block) {
        return Place::container_of(block)->heap.load(std::memory_order_acquire);  // pairs with the release of each move
    }
    static void *block_of(const void *p) {
        if (reinterpret_cast<std::uintptr_t>(p) % kAlignment != 0) die_of_no_block(p);
        return block_in(Place::container_of(p), p);
    }
    static void *hand_out(void *block) { return block; }
    static void take_back(void *) {}
    // relaxed: a thread that frees the block got it from this thread, by way of the program's own ordering.
    static void *aligned_in(void *block, std::size_t alignment) {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        const std::uintptr_t aligned = align_up(address, alignment);
        if (aligned != address) Place::container_of(block)->holds_displaced.store(true, std::memory_order_relaxed);
        return reinterpret_cast<void *>(aligned);
    }
    static bool is_large(const void *block) { return Place::container_of(block)->block_bytes == 0; }
    static void *allocate_large(std::size_t size, std::size_t alignment) {
        return Place::LargeBlocks::allocate(size, alignment);
    }
    static void free_large(void *block) { Place::LargeBlocks::free(Place::container_of(block)); }
    static void draw_large(auto &picture, auto place, const void *begin, std::size_t bytes) {
        const auto *const container = static_cast<const Container *>(begin);
        picture.container(container, show::ContainerKind::container, bytes, 1, bytes);
        picture.stands(container, place);
        picture.block(container, 0, container->first_block, bytes);
    }
    // From p on, which is the block or an aligned address in it.
    static std::size_t usable_size(const void *p) {
        Container *const container = Place::container_of(p);
        const char *const block = static_cast<const char *>(block_in(container, p));
        const char *const end =
            container->block_bytes == 0 ? container->mapping + container->mapped_bytes : block + container->block_bytes;
        return static_cast<std::size_t>(end - static_cast<const char *>(p));
    }
};

}  // namespace gr::lab

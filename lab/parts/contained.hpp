// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator whose every block lies in a container: what is small some heaps have, what is large is a container
//       alone in its mapping (Hoard 3; LFMalloc 3.2.1).
// Invariant: an address leads to its container, and a container's mark is looked at before anything else of it.
// Must not know: heaps, and when a container moves.
#pragma once

#include <concepts>

#include "parts/allocator.hpp"
#include "parts/container.hpp"

namespace gr::lab {

template <class H>
concept ContainerHeaps = requires(H heaps, const H const_heaps, std::size_t size, Container *container, void *block) {
    // Before anything else, and again until it is true. false: no memory.
    { heaps.start() } -> std::same_as<bool>;
    // Requests below it are the heaps'; 0 before the start.
    { const_heaps.limit() } -> std::same_as<std::size_t>;
    // The limit of any start.
    { H::kMostLimit } -> std::convertible_to<std::size_t>;
    // Of a container: a power of two, chosen at the start; and the largest of any start.
    { H::container_bytes() } -> std::same_as<std::size_t>;
    { H::kMostContainerBytes } -> std::convertible_to<std::size_t>;
    // nullptr: no memory.
    { heaps.take(size) } -> std::same_as<void *>;
    { heaps.put(container, block) } -> std::same_as<void>;
    { heaps.lock() } -> std::same_as<void>;
    { heaps.unlock() } -> std::same_as<void>;
};

template <ContainerHeaps Heaps>
class Contained {
    using Large = ContainedLargeBlocks<Heaps::kMostContainerBytes>;

  public:
    constexpr Contained() = default;

    void *allocate(std::size_t size) {
        if (size < heaps_.limit()) [[likely]]
            return heaps_.take(size);
        return allocate_otherwise(size, kAlignment);
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        if (alignment <= kAlignment) return allocate(size);
        return allocate_otherwise(size, alignment);
    }
    void free(void *p) {
        Container *const container = checked_container_of(p);
        void *const block = block_in(container, p);
        if (Large::is_large(container)) return Large::free(container);
        heaps_.put(container, block);
    }
    std::size_t usable_size(const void *p) const {
        Container *const container = checked_container_of(p);
        char *const block = static_cast<char *>(block_in(container, p));
        if (Large::is_large(container)) return Large::usable_size(container, p);
        return static_cast<std::size_t>(block + container->block_bytes - static_cast<const char *>(p));
    }
    std::size_t zeroed_above() const { return Heaps::kMostLimit; }
    void thread_ends() {}
    void lock() { heaps_.lock(); }
    void unlock() { heaps_.unlock(); }
    void unlock_in_child() { heaps_.unlock(); }

    // For tests.
    Heaps &heaps() { return heaps_; }

  private:
    static Container *container_of(const void *p) {
        return reinterpret_cast<Container *>(
            align_down(reinterpret_cast<std::uintptr_t>(p) - 1, Heaps::container_bytes()));
    }
    static Container *checked_container_of(const void *p) {
        if (reinterpret_cast<std::uintptr_t>(p) % kAlignment != 0) die_of_no_block(p);
        Container *const container = container_of(p);
        if (container->mark != Container::kMark) die_of_no_block(p);
        return container;
    }
    [[gnu::noinline]] void *allocate_otherwise(std::size_t size, std::size_t alignment) {
        if (size > kMaxRequest || alignment > kMaxRequest - size || !heaps_.start()) return nullptr;
        const std::size_t with_room = alignment <= kAlignment ? size : size + alignment;
        if (with_room >= heaps_.limit()) return Large::allocate(size, alignment, Heaps::container_bytes());
        auto *const block = static_cast<char *>(heaps_.take(with_room));
        if (block == nullptr) return nullptr;
        char *const p = block + (align_up(reinterpret_cast<std::uintptr_t>(block), alignment) -
                                 reinterpret_cast<std::uintptr_t>(block));
        // Whoever frees it has it from this thread.
        if (p != block) container_of(block)->holds_displaced.store(true, std::memory_order_relaxed);
        return p;
    }

    Heaps heaps_;
};

}  // namespace gr::lab

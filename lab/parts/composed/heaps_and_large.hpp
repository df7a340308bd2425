// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator of heaps that have the small blocks, and of large ones, each alone in its mapping (Wasik 5.1;
//    Hoard 3; LFMalloc 3.2.1).
// Invariant: what is given back is looked at before anything is done with it: its header, or its container's mark.
// Must not know: heaps, and where a block's size stands.
#pragma once

#include <concepts>
#include <utility>

#include "parts/contract/allocator.hpp"
#include "parts/lists/lock.hpp"

namespace gr::lab {

template <class H>
concept SmallHeaps = Lockable<H> && requires(H heaps, const H const_heaps, std::size_t size, void *block) {
    // While the limit is 0. false: no memory.
    { heaps.start() } -> std::same_as<bool>;
    // Requests below it are the heaps'; 0 before the start.
    { const_heaps.limit() } -> std::same_as<std::size_t>;
    // The limit of any start.
    { H::kMostLimit } -> std::convertible_to<std::size_t>;
    // nullptr: no memory.
    { heaps.take(size) } -> std::same_as<void *>;
    { heaps.put(block) } -> std::same_as<void>;
    { heaps.thread_ends() } -> std::same_as<void>;
    // Statics as a block store's (block_store.hpp): block_of, usable_size, aligned_in, and those of large blocks.
    typename H::Blocks;
};

template <SmallHeaps Heaps>
class HeapsAndLarge {
    using Blocks = typename Heaps::Blocks;

  public:
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
        void *const block = Blocks::block_of(p);
        if (Blocks::is_large(block)) [[unlikely]]
            return Blocks::free_large(block);
        heaps_.put(block);
    }
    std::size_t usable_size(const void *p) const { return Blocks::usable_size(p); }
    std::size_t zeroed_above() const { return Heaps::kMostLimit; }
    void thread_ends() { heaps_.thread_ends(); }
    void lock() { heaps_.lock(); }
    void unlock() { heaps_.unlock(); }

    void draw(auto &picture) const requires requires { std::declval<const Heaps &>().draw(picture); }
    {
        const auto alone =
            picture.place(picture.top(), show::PlaceKind::list, picture.words("alone"), picture.words("mapped alone"));
        picture.for_each_alone(
            [&](const void *begin, std::size_t bytes) { Blocks::draw_large(picture, alone, begin, bytes); });
        heaps_.draw(picture);
    }

    // For tests.
    Heaps &heaps() { return heaps_; }

  private:
    [[gnu::noinline]] void *allocate_otherwise(std::size_t size, std::size_t alignment) {
        if (size > kMaxRequest || alignment > kMaxRequest - size) return nullptr;
        if (heaps_.limit() == 0 && !heaps_.start()) return nullptr;
        const std::size_t with_room = alignment <= kAlignment ? size : size + alignment;
        if (with_room >= heaps_.limit()) return Blocks::allocate_large(size, alignment);
        void *const block = heaps_.take(with_room);
        return block == nullptr ? nullptr : Blocks::aligned_in(block, alignment);
    }

    Heaps heaps_;
};

}  // namespace gr::lab

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a heap keeps its free blocks in, and the heap behind all heaps that it gets them from and gives them to.
// Invariant: of a store one thread at a time is in: its heap's lock is held, or the heap is that thread's. The global
//    side has locks of its own.
// Must not know: how a thread finds its heap; buffers and remote lists, which stand before a store.
#pragma once

#include <concepts>
#include <cstddef>

#include "parts/layout/block_tag.hpp"
#include "parts/lists/lock.hpp"

namespace gr::lab {

// So many times the largest block may lie free in one bin of a heap, and in all of them (Wasik 5.2).
inline constexpr std::size_t kMostOfBin = 2;
inline constexpr std::size_t kMostOfHeap = 64;

template <class S>
concept BlockStore = Lockable<typename S::Global> &&
    requires(S store, typename S::Global &global, std::size_t size, void *block, HeapNumber heap) {
    // Of remote lists: so many, that of a request and that of a block. One, if a request may take any other's block.
    { S::kBins } -> std::convertible_to<unsigned>;
    { S::bin_of(size) } -> std::same_as<unsigned>;
    { S::bin_of_block(block) } -> std::same_as<unsigned>;
    // The largest request that is not mapped alone.
    { S::largest() } -> std::same_as<std::size_t>;
    // What is free here; nullptr: nothing that fits.
    { store.take(size) } -> std::same_as<void *>;
    // A block of this heap. Where the heap has too much then, some goes to the global heap.
    { store.put(block, global) } -> std::same_as<void>;
    // From the global heap, or the kernel: a take of this size succeeds then. false: no memory.
    { store.grow(size, global, heap) } -> std::same_as<bool>;
    // Whose block it is; 0: the global heap's. May change until that heap's lock is held.
    { S::heap_of(block) } -> std::same_as<HeapNumber>;
    // What the program gave back: the block's own address, checked as far as headers can; and what lies in the heaps.
    { S::block_of(block) } -> std::same_as<void *>;
    { S::is_large(block) } -> std::same_as<bool>;
    { S::usable_size(block) } -> std::same_as<std::size_t>;
    // At a multiple of the second.
    { S::allocate_large(size, size) } -> std::same_as<void *>;
    { S::free_large(block) } -> std::same_as<void>;
    // The program has it from now on; and has given it back, and it lies in no store yet.
    { S::hand_out(block) } -> std::same_as<void *>;
    { S::take_back(block) } -> std::same_as<void>;
    // An aligned address in a block that is `alignment` larger than was asked for.
    { S::aligned_in(block, size) } -> std::same_as<void *>;
    // A block of the global heap's own, freed (containers that were moved with blocks in use).
    { global.put(block) } -> std::same_as<bool>;
};

}  // namespace gr::lab

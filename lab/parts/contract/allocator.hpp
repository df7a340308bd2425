// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what every allocator of the lab is to the libc face.
// Invariant: an object that is usable before any constructor runs: all zero or constant at its start.
// Must not know: any allocator, any name of libc's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/config.hpp"

namespace gr::lab {

// Of every block.
inline constexpr std::size_t kAlignment = 16;

template <class A>
concept Allocator = requires(A a, const A c, std::size_t n, void *p, const void *q) {
    // A block of n bytes at least, 0 among them; nullptr: no memory. Sets no errno.
    { a.allocate(n) } -> std::same_as<void *>;
    // The same at a multiple of a power of two.
    { a.allocate_aligned(n, n) } -> std::same_as<void *>;
    // A block in use; dies of what its headers show to be none.
    { a.free(p) } -> std::same_as<void>;
    { a.usable_size(q) } -> std::same_as<std::size_t>;
    // Requests above it come zeroed.
    { c.zeroed_above() } -> std::same_as<std::size_t>;
    // The calling thread ends; what it does afterwards still works.
    { a.thread_ends() } -> std::same_as<void>;
    // For fork: every lock, in the order in which anyone takes them; and back, in the child, too, which has one thread.
    { a.lock() } -> std::same_as<void>;
    { a.unlock() } -> std::same_as<void>;
    requires std::is_trivially_destructible_v<A>;
};

}  // namespace gr::lab

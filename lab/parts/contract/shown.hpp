// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what parts tell of a call while it runs: the rule of the paper that they follow, locks, memory from the kernel,
//    and memory that they cut into blocks. Only a shown build (kShown) records this; in every other build these
//    functions do nothing. What parts hold they tell by a function `draw(picture)`, which show/picture.hpp calls.
// Invariant: nothing here changes what a part does. The tell_ functions allocate nothing and are defined by the recorder.
// Must not know: which program reads it, and any allocator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/config.hpp"

namespace gr::lab::show {

enum class PlaceKind : std::uint8_t { heap, global, group, bin, buffer, remote, online, arena, list };
enum class ContainerKind : std::uint8_t { superblock, container, run, chunk, page, buffer };
// Used: the program has the block, or the allocator itself.
enum class Shown : std::uint8_t { used, free, remote, buffered };

void tell_rule(const char *cite, const char *text);
bool tell_waits(const void *lock);
void tell_locked(const void *lock);
void tell_unlocked(const void *lock);
void tell_kernel(std::ptrdiff_t bytes);
void tell_made(const void *begin, std::size_t bytes, bool is_alone);
void tell_unmade(const void *begin);

// The call follows this rule of the paper.
[[gnu::always_inline]] inline void rule(const char *cite, const char *text) {
    if constexpr (kShown) tell_rule(cite, text);
}
// The lock is another thread's. true: the thread stopped meanwhile and looks again, so that a stage's thread never sleeps.
[[gnu::always_inline]] inline bool waits(const void *lock) {
    if constexpr (kShown) {
        return tell_waits(lock);
    } else {
        return false;
    }
}
[[gnu::always_inline]] inline void locked(const void *lock) {
    if constexpr (kShown) tell_locked(lock);
}
[[gnu::always_inline]] inline void unlocked(const void *lock) {
    if constexpr (kShown) tell_unlocked(lock);
}
// Taken, or given back where `bytes` is negative.
[[gnu::always_inline]] inline void kernel(std::ptrdiff_t bytes) {
    if constexpr (kShown) tell_kernel(bytes);
}
// Memory that is cut into blocks from now on; alone: it holds one block that no heap serves.
[[gnu::always_inline]] inline void made(const void *begin, std::size_t bytes) {
    if constexpr (kShown) tell_made(begin, bytes, false);
}
[[gnu::always_inline]] inline void made_alone(const void *begin, std::size_t bytes) {
    if constexpr (kShown) tell_made(begin, bytes, true);
}
[[gnu::always_inline]] inline void unmade(const void *begin) {
    if constexpr (kShown) tell_unmade(begin);
}

}  // namespace gr::lab::show

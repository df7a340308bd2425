// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a program did with its memory, as the player does it again: a list of operations for each of its threads.
// Invariant: the operations on a slot take turns, whatever threads do them: each knows how many come before it. There
//    is an order of all operations in which nobody waits: that of the recording. So nobody waits for ever.
// Must not know: whence it comes; which allocator serves.
#pragma once

#include <cstdint>

namespace gr::tool {

enum class Action : std::uint8_t {
    malloc,
    calloc,
    aligned,
    realloc,  // of the slot's block
    free,
    start,      // the thread of that number begins
    milestone,  // waits until all have come as far
    leave,      // the last of a thread that ended before a milestone: it counts as come, and does not wait
};

struct Operation {
    std::uint64_t size : 40;  // bytes
    std::uint64_t log2_alignment : 5;
    std::uint64_t action : 3;
    std::uint64_t turn : 16;  // operations on the slot before this one, the lowest bits of that
    std::uint32_t slot;       // or the number of a thread, or of a milestone
    std::uint32_t pages;      // of the block that are written to
};
static_assert(sizeof(Operation) == 16, "four operations share a cache line");
inline constexpr std::uint64_t kMostSize = (std::uint64_t{1} << 40) - 1;
inline constexpr std::uint8_t kMostAlignment = (1 << 5) - 1;
inline constexpr std::uint8_t kMostAction = (1 << 3) - 1;
inline constexpr std::uint32_t kMostTurn = (std::uint32_t{1} << 16) - 1;  // 0 comes after it

struct ScriptThread {
    std::uint64_t first;  // of the operations
    std::uint64_t count;
};

// At the begin of the file; the parts follow in the order of their names here, the words of slots and of milestones as zeroes.
struct ScriptHead {
    std::uint64_t operations;
    std::uint32_t threads;
    std::uint32_t slots;
    std::uint32_t milestones;
    std::uint32_t peak;  // the milestone where most was in use; `milestones`: there is none
    std::uint64_t page_bytes;
    std::uint64_t threads_at;  // bytes from the begin
    std::uint64_t operations_at;
    std::uint64_t expected_at;  // of each milestone, how many come: 32 bits
    std::uint64_t end;
};

// What the player and who started it tell each other, in memory that they share. The player's words but for `go`.
struct Progress {
    std::uint32_t state;         // a Stage; a futex
    std::uint32_t go;            // the stage that the player may leave; a futex
    std::uint64_t done;          // operations, now and then
    std::uint64_t live_at_peak;  // bytes asked for that were in use there
    std::uint64_t wall_nanoseconds;
    std::uint64_t user_microseconds;
    std::uint64_t system_microseconds;
    std::uint64_t failed;  // calls that got nothing
    std::uint64_t faults;
};
enum Stage : std::uint32_t { kPreparing, kReady, kPlaying, kAtPeak, kDone };

}  // namespace gr::tool

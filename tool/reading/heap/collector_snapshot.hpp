// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the collector of a running process knows at one moment: its kinds, its last collection, when the next is
//    due, what waits, and its own memory.
// Invariant: a process that goes on meanwhile makes it a blend of moments, never a failure.
// Must not know: how the heaps of the kinds are read; how it is shown.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reading/heap/heap_finder.hpp"
#include "reading/heap/heap_snapshot.hpp"

namespace gr::tool {

// The values are those of collector_tables.h.
enum class Contents : std::uint8_t { none, any, layout, procedure, per_block, unknown };
enum class Lifetime : std::uint8_t { collected, until_freed, watched, held_back, unknown };
enum class Reason : std::uint8_t { asked, due, refused, young, unknown };

struct Kind {
    std::uint64_t number;
    std::uint64_t heap_at;  // its gr_heap_tables
    Contents contents;
    Lifetime lifetime;
    std::uint64_t left_blocks;  // by the last collection
    std::uint64_t left_bytes;
};

// Pieces of the collector's memory by what they are for: the values of GR_MEMORY_, less one.
enum class CollectorMemory : std::uint8_t { marks, places, finalization, waiting, origins, snapshot };
inline constexpr std::size_t kCollectorMemories = 6;

struct LastCollection {
    std::uint64_t number;  // 0: there was none, and the rest says nothing
    Reason reason;
    std::uint64_t began;    // nanoseconds of CLOCK_MONOTONIC
    std::uint64_t stopped;  // nanoseconds
    std::uint64_t beside;   // nanoseconds
    std::uint64_t threads;
    std::uint64_t freed_blocks;
    std::uint64_t live_blocks;
    std::uint64_t live_bytes;
};

struct CollectorSnapshot {
    std::vector<Kind> kinds;
    LastCollection last{};
    std::uint64_t due_bytes = 0;  // of units in use
    bool is_disabled = false;
    bool is_automatic = true;
    bool is_beside = false;
    bool retains_by_pace = false;  // as much empty memory as may be allocated until the next collection
    WaitingFlags flags;
    std::uint64_t waiting_bytes = 0;                  // as the next search counts them
    std::uint64_t waiting_due_bytes = 0;              // 0: nothing ever waits
    std::array<double, kCollectorMemories> memory{};  // resident bytes
    std::vector<double> accounted;                    // of each mapping, that are among these
};

[[nodiscard]] CollectorSnapshot take_snapshot(const ProcessMemory &memory, const std::vector<Mapping> &mappings,
                                              const FoundCollector &found);

// "scanned", "pointer-free, kept until freed"; two kinds may have the same.
[[nodiscard]] std::string description(const Kind &kind);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the heap of a running process at one moment: what every byte of its units is used for, and how much of that is
//    resident.
// Invariant: the bytes of all parts together are those of the units, the resident ones those that the kernel counts. A
//    process that goes on meanwhile makes it a blend of moments, never a failure.
// Must not know: how it is shown.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reading/heap/heap_finder.hpp"
#include "reading/process/process_memory.hpp"

namespace gr::tool {

// What a byte of the heap is used for, from the program's view to the kernel's.
enum class Part : std::uint8_t { live, waiting, cached, remote, free, tail, empty };
inline constexpr std::size_t kParts = 7;

struct Amount {
    std::uint64_t bytes = 0;
    double resident = 0;  // of these

    Amount &operator+=(const Amount &other) {
        bytes += other.bytes;
        resident += other.resident;
        return *this;
    }
};

using Amounts = std::array<Amount, kParts>;
[[nodiscard]] inline const Amount &amount(const Amounts &amounts, Part part) {
    return amounts[static_cast<std::size_t>(part)];
}

// Neighbouring units of one use: a superblock, a run, or empty ones.
struct Span {
    std::uint64_t first_unit;  // counted from the first that can hold blocks
    std::uint64_t units;
    std::uint32_t block_bytes;  // 0 for a run and for empty units
    Amounts amounts;
};

struct ClassSummary {
    std::uint32_t block_bytes = 0;
    std::uint64_t superblocks = 0;
    std::uint64_t blocks = 0;
    std::uint64_t live_blocks = 0;
    Amounts amounts;
};

struct HeapSnapshot {
    std::uint64_t unit_bytes = 0;
    std::vector<Span> spans;            // in the order of their addresses, without gaps
    std::vector<ClassSummary> classes;  // by size; only those that have superblocks
    Amounts amounts;                    // of all spans
    Amount direct;                      // blocks mapped directly, all of them live
    std::uint64_t live_blocks = 0;      // of superblocks, runs and direct ones
    std::uint64_t waiting_blocks = 0;
    std::uint64_t superblocks = 0;
    std::uint64_t global_superblocks = 0;
    std::uint64_t heaps = 0;
    std::uint64_t retain_bytes = 0;    // the option
    std::uint64_t retain_parts = 1;    // one part in so many of the memory in use may stay, too
    std::uint64_t magazine_bytes = 0;  // the option
    std::uint64_t reuse_bytes = 0;     // may stay beyond retain_bytes
    std::uint64_t reuse_since = 0;     // nanoseconds of CLOCK_MONOTONIC_COARSE; 0: not at all
    std::uint64_t absent_bytes = 0;    // of the units that hold something, in pages that are absent
    double table_resident = 0;         // of the tables that describe all this
    std::vector<double> accounted;     // resident bytes of each mapping that are among the numbers above

    // Units that hold something, without their absent pages, as the collector counts them.
    [[nodiscard]] std::uint64_t present_bytes() const {
        std::uint64_t bytes = 0;
        for (const Amount &part : amounts) bytes += part.bytes;
        bytes -= amount(amounts, Part::empty).bytes;
        return bytes - std::min(bytes, absent_bytes);
    }
};

// Where flags of freed blocks lie that wait until nothing points to them, as granary/wire/collector_tables.h says; 0: none do.
struct WaitingFlags {
    std::uint64_t narrow_at = 0;
    std::uint64_t wide_at = 0;
};

[[nodiscard]] HeapSnapshot take_snapshot(const ProcessMemory &memory, const std::vector<Mapping> &mappings,
                                         const gr_heap_tables &tables, const WaitingFlags &waiting);

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a collection reports of itself.
// Invariant: the steps are disjoint parts of the pause, so stopping + marking + sweeping <= stopped.
// Must not know: who reads a report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/field.hpp"
#include "collector/finalizers.hpp"

namespace gr {

// asked: the program asked for it. due: as much was allocated, or waits, as may be between two collections. refused:
// there was no memory for a request. young: the young blocks only, because the program asked for it or took much.
enum class Reason : std::uint8_t { asked, due, refused, young };

struct LiveOfKind {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};

struct CollectionReport {
    bool done = false;
    Reason reason = Reason::asked;
    std::uint64_t number = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t freed_blocks = 0;
    std::uint64_t rescanned_bytes = 0;  // by a minor collection: of old blocks in pages that the program wrote to
    std::size_t threads = 0;            // threads that were stopped
    std::size_t held_before = 0;        // bytes of units in use
    std::size_t held = 0;               // bytes of units that hold something afterwards
    std::uint64_t began = 0;            // by platform::nanoseconds()
    std::uint64_t stopped_nanoseconds = 0;
    std::uint64_t stopping_nanoseconds = 0;  // until all threads stood and their roots were known
    std::uint64_t marking_nanoseconds = 0;
    std::uint64_t sweeping_nanoseconds = 0;
    // Of an incremental collection: the stops for roots before the last stop, which the fields above are about, and the
    // time from the beginning to the last stop.
    static constexpr std::size_t kMostRootStops = 4;
    std::array<std::uint64_t, kMostRootStops> root_stops_nanoseconds{};  // 0: none
    std::uint64_t beside_nanoseconds = 0;
    FinalizationReport finalization{};
    std::array<LiveOfKind, kMostKinds> live_of_kinds{};  // by kind; the sums are live_blocks and live_bytes

    void add_live(std::uint32_t kind, std::uint64_t blocks, std::uint64_t bytes) {
        live_blocks += blocks;
        live_bytes += bytes;
        live_of_kinds[kind].blocks += blocks;
        live_of_kinds[kind].bytes += bytes;
    }
};

}  // namespace gr

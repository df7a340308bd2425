// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells tools outside the process where the collector keeps what it knows (granary/collector_tables.h).
// Invariant: only written to, by the holder of the collector's lock or before there are others; nothing in the process
//    reads it. No address of a block is in it.
// Must not know: what a tool makes of the tables; how it is collected.
#pragma once

#include "collector/kinds.hpp"
#include "granary/collector_tables.h"
#include "platform/world/range.hpp"

namespace gr {

// The values are those of collector_tables.h.
enum class MemoryUse : std::uint8_t {
    marks = GR_MEMORY_MARKS,
    places = GR_MEMORY_PLACES,
    finalization = GR_MEMORY_FINALIZATION,
    waiting = GR_MEMORY_WAITING,
    origins = GR_MEMORY_ORIGINS,
    snapshot = GR_MEMORY_SNAPSHOT,
};

// Once it is whole; its marks with it.
void publish_kind(const Kind &kind);
// Of what stays for ever, wherever its memory lies.
void publish_memory(MemoryUse use, const platform::Growing &memory);
// A number of the program's: while it is not 0 nothing is collected.
void publish_dont_collect(const int &number);
// A flag for each block of the only kind, up while it waits; how many bytes do, and with how many it is searched.
void publish_waiting(const Region &region, const Marks &flags, const std::atomic<std::size_t> &bytes,
                     const std::atomic<std::size_t> &due);

}  // namespace gr

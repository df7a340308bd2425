// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: publishes where the collector keeps its tables, for tools outside the process (granary/wire/collector_tables.h).
// Invariant: written only under the collector's lock, or before there are other threads. Nothing in the process reads
//    what is published, and it holds no address of a block.
// Must not know: what a tool does with the tables; how a collection works.
#pragma once

#include "collector/collection_report.hpp"
#include "collector/finalization.hpp"
#include "collector/kinds.hpp"
#include "collector/pace.hpp"
#include "granary/wire/collector_tables.h"
#include "platform/world/range.hpp"

namespace gr {

// The values are those of collector_tables.h.
enum class MemoryUse : std::uint8_t {
    marks = GR_MEMORY_MARKS,
    unit_table = GR_MEMORY_UNIT_TABLE,
    finalization = GR_MEMORY_FINALIZATION,
    waiting = GR_MEMORY_WAITING,
    origins = GR_MEMORY_ORIGINS,
    snapshot = GR_MEMORY_SNAPSHOT,
};

// Called once the kind is complete. Its marks are published with it.
void publish_kind(const Kind &kind);
// Memory of an object that is never destroyed; the memory itself may move.
void publish_memory(MemoryUse use, const platform::Growing &memory);
void publish_finalization(const Finalization &finalization);
// The last report, when a collection is due, whether collections are incremental, and whether the pace decides how much empty
// memory stays. Called last: a tool finds the tables from then on.
void publish_collections(const CollectionReport &last, const Pace &pace, const std::atomic<bool> &is_incremental,
                         const bool &retains_by_pace);
// A number of the program: nothing is collected while it is not 0.
void publish_dont_collect(const int &number);
// A flag for each block of the only kind, set while the block waits in the quarantine; how many bytes wait; and with
// how many bytes a search is due.
void publish_waiting(const Region &region, const Marks &flags, const std::atomic<std::size_t> &bytes,
                     const std::atomic<std::size_t> &due);

}  // namespace gr

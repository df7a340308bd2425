// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the objects that every kind of collection is made of.
// Invariant: the Collector owns these objects; each of them has one duty, and none of them knows a kind of collection.
// Must not know: in which order a collection uses its parts.
#pragma once

#include "collector/cached_blocks.hpp"
#include "collector/collection_history.hpp"
#include "collector/collector_lock.hpp"
#include "collector/dirty_pages.hpp"
#include "collector/generations.hpp"
#include "collector/mark_phase.hpp"
#include "collector/memory_return.hpp"
#include "collector/root_scanner.hpp"
#include "collector/stopper.hpp"
#include "platform/reentry.hpp"

namespace gr {

struct CollectionParts {
    CollectorLock &lock;
    Kinds &kinds;
    Hooks &hooks;
    Pace &pace;
    Pacer &pacer;
    MarkNumbers &numbers;
    Markers &markers;
    Stopper &stopper;
    RootScanner &roots;
    DirtyPages &dirty_pages;
    CachedBlocks &cached_blocks;
    MarkPhase &mark_phase;
    SweepPhase &sweep_phase;
    MemoryReturn &memory_return;
    CollectionHistory &history;
    Generations &generations;
};

// Whether collections are not disabled, and the caller is not a handler that interrupted the allocator.
inline bool may_collect(const Pace &pace) {
    return pace.disabled.load(std::memory_order_relaxed) <= 0 && !platform::Reentry::is_interrupted();
}

}  // namespace gr

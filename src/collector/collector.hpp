// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the collection: when it is due, and its steps from the stop to the last page given back.
// Invariant: one at a time; who collects holds the locks of all instances from before the stop until after it, so that no
//            block is in flight but in registers and on stacks. Nothing reachable is ever freed: what cannot be found out
//            or scanned ends the collection, and everything stays.
// Must not know: which names programs call.
#pragma once

#include "collector/kinds.hpp"
#include "collector/marker.hpp"
#include "collector/roots.hpp"

namespace gr {

struct CollectionReport {
    bool done = false;
    std::uint64_t number = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t freed_blocks = 0;
    std::uint64_t stopped_nanoseconds = 0;
};

class Collector {
  public:
    constexpr Collector() = default;

    // Once. false: no addresses, no signal; nothing can be collected or allocated.
    bool start();
    bool is_started() const { return started_.load(std::memory_order_acquire); }

    Kinds &kinds() { return kinds_; }
    Roots &roots() { return roots_; }
    platform::Mutex &mutex() { return mutex_; }

    // Of all kinds, now. Not inside the allocator.
    CollectionReport collect();

    // So many bytes were taken since the last one that the next is due.
    bool is_due() const;
    const CollectionReport &last() const { return last_; }

  private:
    void mark(CollectionReport *report, bool *complete);
    void sweep(CollectionReport *report);
    void release_dead_runs();
    std::uint8_t next_mark();
    std::size_t used_bytes() const;

    Kinds kinds_;
    Roots roots_;
    Worklist worklist_;
    platform::Mutex mutex_;  // of roots, kinds and the collection
    platform::MappedList<std::pair<Kind *, Superblock *>> dead_runs_;
    std::uint8_t mark_ = 0;
    std::atomic<std::size_t> due_at_{0};  // bytes in use; ordered by nothing
    CollectionReport last_;
    std::atomic<bool> started_{false};  // release, with the acquire of is_started
};

extern Collector collector;

}  // namespace gr

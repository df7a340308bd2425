// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that the program has freed, and that wait until nothing points to them.
// Invariant: a flag apart from the block says that it waits; it is zero meanwhile, keeps nothing, and nobody else has
//    it. What a search has not reached goes back; what it has reached waits for the next.
// Must not know: the names that programs call.
#pragma once

#include "collector/collector.hpp"
#include "collector/marks.hpp"
#include "gcmalloc/quarantine_pace.hpp"

namespace gr {

class Quarantine {
  public:
    constexpr Quarantine() = default;

    // Once, as early as there are blocks. false: no addresses.
    bool initialise();
    // Whoever frees it is calling. What is no block, or free, goes to malloc, which
    // knows what to say of it; but for a pointer inside one, which malloc may find later only.
    void take(void *p) {
        if (!take_quickly(p)) take_slowly(p);
    }
    bool holds(const void *p) const;
    // Of the flags: nothing there points.
    std::array<platform::Range, 2> addresses() const { return flags_.addresses(); }
    // So much waits that a search may be worth its cost; and whether it is, under the collector's lock.
    bool is_due() const { return pace_.is_due(bytes_.load(std::memory_order_relaxed)); }
    bool is_worth_search();

    // The world standing: blocks, of one word of a superblock's bitmap, that are used and do not wait.
    Word in_use(const Superblock *s, std::uint32_t word) const;
    // When all that is reachable is marked, the world standing: what waits and is not becomes free.
    void sweep(const Collector &by, Kind &kind);
    // After it, when the others run: runs go back, and it is settled how much may wait until the next search.
    void settle(const CollectionReport &search, Kind &kind);

    // Around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    static constexpr std::uint8_t kWaits = 1;  // the number of a flag that is up
    // Of blocks of whole units the pages are given back at once; what waits is their addresses, and counts so much less.
    static constexpr std::size_t kRunParts = 8;
    // A thread counts for itself up to there, for an atomic operation for each free costs more than the rest of it.
    static constexpr std::size_t kUncounted = 16 * kKiB;
    static constexpr platform::Rank kRank = platform::Rank::quarantine;

    struct DeadRun {
        Superblock *run;
    };

    // Most blocks. false: it is none of them, or waits already, and nothing was done.
    bool take_quickly(void *p);
    void take_slowly(void *p);
    void count(std::size_t bytes);
    static std::size_t weight(const Superblock *s);
    bool cover(UnitIndex unit);
    Mark *flag_of(const BlockRef &ref) const { return &flags_.row(ref.superblock)[ref.index.value]; }

    // Released when the block is zero; with the stop that reads them. Of two threads that free the same block at the same
    // moment the second may find it down yet: it waits once, all the same.
    Marks flags_;
    std::atomic<std::size_t> bytes_{0};  // that wait; ordered by nothing
    QuarantinePace pace_;
    platform::MappedList<DeadRun> dead_runs_;  // runs, from sweep() to settle(), under the collector's lock
    platform::Mutex mutex_;                    // of what flags_ covers
};

extern Quarantine process_quarantine;

}  // namespace gr

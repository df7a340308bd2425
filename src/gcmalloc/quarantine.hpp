// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that the program has freed, and that wait until nothing points to them.
// Invariant: a flag apart from the block says that the block waits. Meanwhile the block is zero, keeps nothing, and is not
//    given out. A block that a search has not reached becomes free; one that it has reached waits for the next search.
// Must not know: the names that programs call.
#pragma once

#include "collector/collector.hpp"
#include "collector/marks.hpp"
#include "gcmalloc/quarantine_pace.hpp"

namespace gr {

class Quarantine {
  public:
    constexpr Quarantine() = default;

    // Called once, before the first block. false: the kernel refused the addresses.
    bool initialise();
    // Called by the thread that frees the block. A pointer to no block, or to a free one, goes to malloc, which reports it.
    // A pointer inside a block is reported here, because malloc might find it only later.
    void take(void *p) {
        if (!take_quickly(p)) take_slowly(p);
    }
    bool holds(const void *p) const;
    // Where the flags lie: they hold no pointers.
    std::array<platform::Range, 2> addresses() const { return flags_.addresses(); }
    // Whether so much waits that a search may be worth its cost; and whether it is, under the collector's lock.
    bool is_due() const { return pace_.is_due(bytes_.load(std::memory_order_relaxed)); }
    bool is_worth_search();

    // In one word of a superblock's bitmap, the blocks that are in use and do not wait. All threads are stopped.
    Word in_use(const Superblock *s, std::uint32_t word) const;
    // Called while all threads are stopped and everything reachable is marked. Frees waiting blocks that are not marked.
    void sweep(const Collector &by, Kind &kind);
    // Called afterwards, when the threads run: releases runs, and decides how much may wait until the next search.
    void settle(const CollectionReport &search, Kind &kind);

    // Held around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    static constexpr std::uint8_t kWaits = 1;  // the value of a flag that is set
    // The pages of blocks of whole units return to the OS at once. Only their addresses wait, so they count less.
    static constexpr std::size_t kRunParts = 8;
    // A thread counts up to this many bytes for itself, because an atomic operation would cost more than the rest of free.
    static constexpr std::size_t kUncounted = 16 * kKiB;
    static constexpr platform::Rank kRank = platform::Rank::quarantine;

    struct DeadRun {
        Superblock *run;
    };

    // Serves most blocks. false: the block is another one, or waits already, and nothing was done.
    bool take_quickly(void *p);
    void take_slowly(void *p);
    void count(std::size_t bytes);
    static std::size_t weight(const Superblock *s);
    bool cover(UnitIndex unit);
    Mark *flag_of(const BlockRef &ref) const { return &flags_.row(ref.superblock)[ref.index.value]; }

    // release, after the block was zeroed, with the stop in which flags are read. If two threads free a block at the same
    // moment, the second may still find the flag not set; the block waits once in either case.
    Marks flags_;
    std::atomic<std::size_t> bytes_{0};  // how many bytes wait; ordered by nothing
    std::size_t stays_ = 0;              // bytes that waited on when the last search ended; under the collector's lock
    QuarantinePace pace_;
    platform::MappedList<DeadRun> dead_runs_;  // runs, from sweep() to settle(), under the collector's lock
    platform::Mutex mutex_;                    // guards which units flags_ covers
};

extern Quarantine process_quarantine;

}  // namespace gr

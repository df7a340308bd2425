// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that the program has freed, and that wait until nothing points to them.
// Invariant: a flag apart from the block says that it waits; it is zero meanwhile, keeps nothing, and nobody else has it.
//            What a marking has not reached goes back; what it has reached waits for the next.
// Must not know: the names that programs call.
#pragma once

#include "collector/collector.hpp"
#include "collector/marks.hpp"

namespace gr {

class Quarantine {
  public:
    constexpr Quarantine() = default;

    // Once, as early as there are blocks. false: no addresses.
    bool initialise();
    // Whoever frees it is calling. What is no block, or free, goes to malloc, which
    // knows what to say of it; but for a pointer inside one, which malloc may find later only.
    void take(void *p);
    bool holds(const void *p) const;
    // So much waits that it is worth a marking.
    bool is_due() const { return bytes_.load(std::memory_order_relaxed) >= due_.load(std::memory_order_relaxed); }

    // When all that is reachable is marked, the world standing: what waits and is not becomes free.
    void sweep(const Collector &by, Kind &kind);
    // After it, when the others run: runs go back, and what may wait until the next search is settled.
    void settle(Kind &kind);

    // Around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    static constexpr std::uint8_t kWaits = 1;  // the number of a flag that is up
    // Of blocks of whole units the pages are given back at once; what waits is their addresses, and counts so much less.
    static constexpr std::size_t kRunParts = 8;
    // So much of the process may be what waits, and not less than so much.
    static constexpr std::size_t kResidentParts = 6;
    static constexpr std::size_t kLeast = 4 * kMiB;
    static constexpr platform::Rank kRank = platform::Rank::quarantine;

    struct DeadRun {
        Superblock *run;
    };

    static std::size_t weight(const Superblock *s);
    bool cover(UnitIndex unit);
    Mark *flag_of(const BlockRef &ref) const { return &flags_.row(ref.superblock)[ref.index.value]; }

    // Released, by an exchange that finds what is freed twice, when the block is zero; with the stop that reads them.
    Marks flags_;
    std::atomic<std::size_t> bytes_{0};        // that wait; ordered by nothing
    std::atomic<std::size_t> due_{kLeast};     // ordered by nothing
    platform::MappedList<DeadRun> dead_runs_;  // runs, from sweep() to settle(), under the collector's lock
    platform::Mutex mutex_;                    // of what flags_ covers
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that the program has freed, and that wait until nothing points to them.
// Invariant: a flag apart from the block says that it waits; it is zero meanwhile, keeps nothing, and nobody else has it.
//            What a marking has not reached goes back; what it has reached waits for the next.
// Must not know: the names that programs call.
#pragma once

#include "collector/block_table.hpp"
#include "collector/collector.hpp"

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

    // When all that is reachable is marked, the world standing: what goes back.
    void find(const Collector &by, Kind &kind);
    // After it, when the others run. `done` is false where nothing was found out; `of` is what was searched.
    void settle(bool done, const Collector &of);

    // Around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    using Flag = std::atomic<bool>;

    // Of blocks of whole units the pages are given back at once; what waits is their addresses, and counts so much less.
    static constexpr std::size_t kRunParts = 8;
    // Of what is held else may wait, but not less than so much.
    static constexpr std::size_t kHeldParts = 4;
    static constexpr std::size_t kLeast = 4 * kMiB;
    static constexpr platform::Rank kRank = platform::Rank::quarantine;

    static std::size_t weight(const Superblock *s);
    bool cover(UnitIndex unit);
    Flag *flag_of(const BlockRef &ref) const { return &flags_.row(ref.superblock)[ref.index.value]; }

    BlockTable<Flag> flags_;                  // seq_cst: of two that free one block one finds the other
    std::atomic<std::size_t> bytes_{0};       // that wait; ordered by nothing
    std::atomic<std::size_t> due_{kLeast};    // ordered by nothing
    std::size_t kept_ = 0;                    // bytes that the last find() found, and that stay
    platform::MappedList<void *> unreached_;  // from find() to settle(), under the collector's lock
    platform::Mutex mutex_;                   // of what flags_ covers
};

}  // namespace gr

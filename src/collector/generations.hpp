// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which blocks are old: those that have the number whose marks count. The other blocks were taken since the last
//    collection.
// Invariant: while is_known(), each old block was scanned since its page was last written to, or its page is reported as
//    written. No block that was free after the last collection of the whole heap has the number, unless a marker took a
//    word for its address.
// Must not know: how young blocks are marked and swept.
#pragma once

#include "collector/collection_report.hpp"
#include "collector/dirty_pages.hpp"
#include "collector/pace.hpp"

namespace gr {

class Generations {
  public:
    constexpr Generations(const Kinds &kinds, DirtyPages &dirty_pages) : kinds_(kinds), dirty_pages_(dirty_pages) {}
    Generations(const Generations &) = delete;
    Generations &operator=(const Generations &) = delete;

    // Under the collector's lock. nullptr: done. Else the text says what the kernel lacks or refuses.
    const char *enable();
    bool is_enabled() const { return is_enabled_.load(std::memory_order_relaxed); }

    // Called in the stop of a collection of the whole heap, after the sweep: all blocks that stay are old from now on.
    void begin(const CollectionReport &report, const Pace &pace);
    // Called after an incremental collection, which has watched the pages since its last stop, and has called unmark_free()
    // for what it swept.
    void begin_after_sweep(const CollectionReport &report, const Pace &pace);
    // Free blocks got the number before the marking, so that no marker need ask whether a block is free. From now on they
    // do not have it. The caller holds all locks, or the owner's of the superblock.
    void unmark_free(const Kind &kind) const;
    void unmark_free(const Kind &kind, Superblock *s) const;
    // Whether the pages that a collection of the whole heap leaves should be watched.
    bool wants_watch() const { return is_enabled() && rests_ == 0; }
    // Called in the stop of a minor collection, after the sweep: the young blocks that stay are old from now on.
    void renew(const CollectionReport &report, const Pace &pace);
    // A minor collection that is due is not worth its time if it has to scan more bytes of old blocks.
    std::size_t most_rescanned() const { return most_rescanned_; }
    // Called after the stop of a minor collection that was given up for that: nothing is known to be old, the program's
    // writes are not watched any more, and no minor collection is due for some collections of the whole heap. The more often
    // this happens, the more of them.
    void give_up();
    // Called before marks get another number or another meaning: nothing is known to be old.
    void forget();
    // For fork's child, which does not inherit the watch.
    void forget_watch();
    bool is_known() const { return is_known_; }
    // Whether minor collections are worth a stop, until the next collection of the whole heap.
    bool are_worth() const { return due_at_.load(std::memory_order_relaxed) != SIZE_MAX; }
    // Whether the program took so much since the last collection that a minor collection is worth a stop. held: bytes of
    // the units in use.
    bool is_due(std::size_t held) const { return held >= due_at_.load(std::memory_order_relaxed); }

  private:
    // Young memory is one such part of the room that the program has until a collection of the whole heap, but not less
    // than kLeastYoung.
    static constexpr std::size_t kYoungParts = 4;
    static constexpr std::size_t kLeastYoung = 4 * kMiB;
    // A byte that is scanned again takes kRescanCost as long as one in a collection of the whole heap: what it points to
    // lies anywhere, and the program has waited for the kernel at the first write to its page.
    static constexpr std::size_t kRescanCost = 4;
    // The most collections of the whole heap in a row without minor ones between them.
    static constexpr std::size_t kMostRests = 15;
    // A minor collection that leaves kStaysMost of kStaysParts of young memory is the last one until the whole heap has been
    // collected.
    static constexpr std::size_t kStaysParts = 4;
    static constexpr std::size_t kStaysMost = 3;
    // Free blocks in units that are held serve first, so the heap may grow by such a part of young memory at least.
    static constexpr std::size_t kGrowthParts = 16;

    void begin_cycle(const CollectionReport &report, const Pace &pace);
    void set_due(const CollectionReport &report, const Pace &pace);

    const Kinds &kinds_;
    DirtyPages &dirty_pages_;
    std::atomic<bool> is_enabled_{false};        // ordered by nothing
    std::atomic<std::size_t> due_at_{SIZE_MAX};  // bytes held; ordered by nothing
    bool is_known_ = false;
    std::size_t young_ = 0;  // bytes that the program takes between two minor collections
    std::size_t live_ = 0;   // bytes of blocks that stayed at the last collection
    std::size_t most_rescanned_ = SIZE_MAX;
    std::size_t rests_ = 0;       // collections of the whole heap to come after which nothing is watched
    std::size_t last_rests_ = 0;  // what rests_ began with last; 0 once a minor collection was done
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hands out runs of units, warm or cold ones first, then the lowest address; gives empty memory back beyond an
//    allowance.
// Invariant: used, dirty, given_back: disjoint masks per chunk; dirty units are free and may be resident, free units
//    that are not dirty (cold) read as zero, or in a scarce region are not mapped until they are used. retained = dirty
//    units * kUnitBytes <= may_retain after every release. lazy: a part of dirty.
// Must not know: superblocks; what a run is for.
#pragma once

#include <atomic>

#include "base/units.hpp"
#include "platform/clock.hpp"
#include "platform/mutex.hpp"
#include "region/allowance.hpp"
#include "region/best_fit_index.hpp"
#include "region/fall.hpp"
#include "region/first_fit_index.hpp"
#include "region/huge_pages.hpp"
#include "region/memory_limit.hpp"
#include "region/region.hpp"
#include "region/time_budget.hpp"

namespace gr {

struct Run {
    UnitIndex first;
    UnitCount count;
    bool zeroed = false;  // every byte reads as zero
};

// Which free units are taken first. Warm ones are resident already and fault no more: for what will be filled. Cold ones
// cost only the pages that are touched: for what may stay nearly empty, where a warm unit would be resident to no use.
enum class Prefer : std::uint8_t { warm, cold };

class PageHeap {
    struct Chunk : BestFitNode {
        std::uint32_t used;
        std::uint32_t dirty;
        std::uint32_t given_back;     // and not used since
        std::uint32_t given_back_at;  // the last time, in milliseconds
        std::uint32_t absent_pages;   // of dirty units
        std::uint32_t lazy;           // of dirty units, those that are freed lazily
        std::uint32_t mapped;         // of a scarce region; else it is not asked
        std::uint32_t cold() const { return ~(used | dirty); }
    };

  public:
    static constexpr std::size_t kFixedBytes = FirstFitIndex::kFixedBytes;
    static constexpr std::size_t kFixedBytesPerChunk =
        sizeof(Chunk) + FirstFitIndex::kBytesPerChunk + HugePages::kBytesPerChunk;

    explicit constexpr PageHeap(Region &region) : region_(region) {}

    // `memory`: zero, kFixedBytes + chunks * kFixedBytesPerChunk. retain_bytes: the least allowance, most_earned: what
    // may be earned beyond it.
    void initialise(char *memory, std::size_t retain_bytes, HugePageMaker maker = HugePageMaker::nobody,
                    std::size_t most_earned = SIZE_MAX);

    // A run of `count` units whose first address is a multiple of `alignment` units (a power of two, at most a chunk).
    // false: no room, no memory, or the calling thread is inside the page heap already.
    bool allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run);
    // So many pages of it are absent already. false: the calling thread is inside already, nothing was released.
    bool release(UnitIndex first, UnitCount count, std::uint32_t absent_pages = 0);
    // Grows a run in place into free units behind it. false: they are not free.
    bool extend(UnitIndex first, UnitCount old_count, UnitCount new_count);

    // The table that is seldom used, for a run. false: no memory, or the calling thread is inside already.
    bool ensure_table(std::size_t which, const Run &run);

    // Gives back all but about `keep` bytes of empty memory; the bytes given back.
    std::size_t trim(std::size_t keep) { return purge_beyond(keep); }

    // What may stay resident of what holds nothing: of empty units, and of free pages of used ones, which whoever uses
    // these gives back.
    std::size_t may_retain() const { return may_stay(allowance_.unit_bytes(present_bytes(), in_use_bytes())); }
    std::size_t may_stay() const { return may_stay(allowance_.page_bytes(present_bytes())); }
    const Allowance &allowance() const { return allowance_; }
    // So many bytes of pages that whoever uses units had given back are touched again.
    void retook(std::size_t bytes) {
        const std::uint64_t since = pages_given_back_at_.load(std::memory_order_relaxed);
        allowance_.retook(bytes, platform::rough_nanoseconds() - since);
    }
    // The caller will return so many bytes and take them again soon.
    void expect_reuse(std::size_t bytes) { allowance_.retook(bytes, 0); }
    // Of what is retained, what stays for it was earned; and for how long something has.
    std::size_t reuse_bytes() const {
        const std::size_t base = allowance_.base(present_bytes());
        const std::size_t retained = retained_bytes();
        return allowance_.earned() != 0 && retained > base ? retained - base : 0;
    }
    std::uint64_t reuse_seconds() const {
        const std::uint64_t since = allowance_.earned_since();
        return reuse_bytes() == 0 || since == 0 ? 0 : (platform::rough_nanoseconds() - since) / kNanosecondsPerSecond;
    }
    // To be asked from slow paths: time takes away what was earned.
    void review(std::size_t free_page_bytes) {
        if (allowance_.earned() == 0) return;
        allowance_.note_pages(free_page_bytes);
        review();
    }
    void review() {
        if (allowance_.earned() != 0 && allowance_.pass(platform::rough_nanoseconds())) retain_what_may_stay();
    }
    // More is held now, of units or outside.
    void retain_what_may_stay();
    // From now on this is the least allowance; what is beyond what may stay goes with the next release.
    void set_least_retained(std::size_t bytes) { allowance_.set_least(bytes); }
    // The two numbers of initialise, at any time; what may not stay any more goes.
    void change_allowance(std::size_t retain_bytes, std::size_t most_earned) {
        allowance_.change(retain_bytes, most_earned);
        retain_what_may_stay();
    }
    // Whoever uses units tells how much of them was given back, and when it is touched again or released.
    void became_absent(std::size_t bytes) {
        absent_bytes_.fetch_add(bytes, std::memory_order_relaxed);
        pages_given_back_at_.store(platform::rough_nanoseconds(), std::memory_order_relaxed);
    }
    void became_present(std::size_t bytes) { absent_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
    std::size_t absent_bytes() const { return load(absent_bytes_); }
    // Of used units, as far as they may be resident.
    std::size_t present_bytes() const {
        const std::size_t used = used_bytes();
        const std::size_t absent = absent_bytes();
        return used > absent ? used - absent : 0;
    }

    // Until what others are giving back now is no longer held. Not for who interrupted one of them.
    void wait_for_purges();
    // In fork's child: what threads that it does not have were doing without the lock.
    void forget_other_threads() {
        purges_ended_.store(purges_begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        huge_pages_.forget_visitor();
    }

    std::size_t retained_bytes() const { return load(dirty_units_) * kUnitBytes; }
    // Of all that is held, what is not retained: direct blocks and tables, too.
    std::size_t in_use_bytes() const {
        const std::size_t held = limit_.held();
        const std::size_t retained = retained_bytes();
        return held > retained ? held - retained : 0;
    }
    // Of what is retained, what the kernel may take when it is short of memory.
    std::size_t lazy_bytes() const { return load(lazy_units_) * kUnitBytes; }
    std::size_t used_bytes() const { return load(used_units_) * kUnitBytes; }
    // The most that was ever used or retained at once.
    std::size_t peak_bytes() const { return load(peak_units_) * kUnitBytes; }
    std::size_t purged_bytes() const { return load(purged_bytes_); }
    std::size_t purge_calls() const { return load(purge_calls_); }
    platform::Mutex &mutex() { return mutex_; }
    const Region &region() const { return region_; }
    // Units that are used or retained, the tables, and what others tell it of.
    MemoryLimit &limit() { return limit_; }
    HugePages &huge_pages() { return huge_pages_; }
    const HugePages &huge_pages() const { return huge_pages_; }
    const MemoryLimit &limit() const { return limit_; }
    bool is_valid() const;

  private:
    struct Piece {
        UnitIndex first;
        UnitCount count;
    };
    static constexpr std::uint32_t kWholeChunk = run_mask(0, kUnitsPerChunk);
    static constexpr unsigned kPiecesPerBatch = 64;
    static constexpr unsigned kSearchChunks = 64;
    static constexpr unsigned kLongSearchChunks = 4096;  // 8 GiB: some microseconds
    static constexpr platform::Rank kRank = platform::Rank::page_heap;

    // Statistics may read these without the lock; they are written under it.
    using Counter = std::atomic<std::size_t>;
    static std::size_t load(const Counter &c) { return c.load(std::memory_order_relaxed); }
    static void add(Counter &c, std::size_t n) { c.store(load(c) + n, std::memory_order_relaxed); }
    static void subtract(Counter &c, std::size_t n) { c.store(load(c) - n, std::memory_order_relaxed); }
    static void raise(Counter &c, std::size_t n) { c.store(load(c) < n ? n : load(c), std::memory_order_relaxed); }

    std::size_t may_stay(std::size_t allowed) const { return limit_.is_above_soft() ? 0 : allowed; }
    bool find(UnitCount count, UnitCount alignment, UnitIndex *first) const;
    static unsigned surely_holds(UnitCount count, UnitCount alignment);
    static int find_aligned(std::uint32_t mask, unsigned count, unsigned alignment);
    bool find_warm(UnitCount count, UnitCount alignment, UnitIndex *first) const;
    bool find_cold(UnitCount count, UnitCount alignment, UnitIndex *first);
    bool place(ChunkIndex c, std::uint32_t units, UnitCount count, UnitCount alignment, UnitIndex *first) const;
    bool try_allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run);
    bool obtain(UnitIndex first, UnitCount count);
    bool map_missing(UnitIndex first, UnitCount count);
    void unmap_cold(UnitIndex first, UnitCount count, UnitCount least);
    void became_scarce();
    bool is_free(UnitIndex first, UnitCount count) const;
    enum class For : bool { use, purge };
    bool take(UnitIndex first, UnitCount count, For what);
    static std::uint32_t take_absent_pages(Chunk *chunk, std::uint32_t warm);
    void regret(Chunk *chunk, std::uint32_t given_back, std::uint32_t absent_pages);
    static std::uint32_t milliseconds();
    bool find_warm_long(UnitCount count, UnitCount alignment, UnitIndex *first) const;
    void retain_less(std::size_t may);
    void put(UnitIndex first, UnitCount count, bool dirty);
    void refresh(ChunkIndex c);
    std::size_t purge_beyond(std::size_t keep);
    void free_reuse_lazily();
    bool free_batch_lazily(std::size_t bytes, std::uint64_t now);
    void unclaim_lazy(const Piece &piece, bool is_lazy);
    // Where the next pieces to be given back are sought, downwards; whether huge pages may be split for few of them;
    // whether those that are freed lazily are sought, too; how many units in a row they are at least; after how many
    // chunks without any it ends, if not 0.
    struct Search {
        ChunkIndex cursor{UINT32_MAX};
        bool split = false;
        bool lazy_too = true;
        unsigned least = 1;
        std::uint32_t chunks = 0;
    };
    unsigned claim_dirty(Piece *pieces, std::size_t bytes, Search *search);
    bool is_worth_splitting(ChunkIndex c, std::uint32_t units) const;
    // Calls visit(chunk, mask of the run's units in it).
    template <class Visit>
    void for_each_chunk(UnitIndex first, UnitCount count, Visit visit) const;

    Region &region_;
    Chunk *chunks_ = nullptr;
    FirstFitIndex free_index_;  // units that are not used
    HugePages huge_pages_;
    Allowance allowance_;
    MemoryLimit limit_;
    Fall<kLazyFallParts, kLazyRestParts> fall_;  // of what is in use; under the lock
    TimeBudget<kLazyTimeParts, kLazySavedNanoseconds> lazy_budget_;
    Counter absent_bytes_{0};                            // by anyone, without the lock; ordered by nothing
    std::atomic<std::uint64_t> pages_given_back_at_{0};  // likewise
    Counter purged_bytes_{0};
    Counter purge_calls_{0};
    // Batches, modulo 2^32. The first by who holds the lock; the second by anyone: release when the limit was told, for
    // who waits.
    std::atomic<std::uint32_t> purges_begun_{0};
    std::atomic<std::uint32_t> purges_ended_{0};
    // What every call writes lies side by side, for it goes from CPU to CPU.
    alignas(kCacheLineBytes) platform::Mutex mutex_;
    std::uint32_t cold_from_ = 0;  // no chunk below it has a free unit that is not dirty
    std::uint32_t chunk_end_ = 0;  // no chunk at or beyond it was ever used
    Counter used_units_{0};
    Counter dirty_units_{0};
    Counter lazy_units_{0};
    ChunkIndex lazy_cursor_{UINT32_MAX};  // where the next units to be freed lazily are sought, downwards
    Counter peak_units_{0};
    BestFitIndex<Chunk> warm_index_;  // dirty units
};

template <class Visit>
void PageHeap::for_each_chunk(UnitIndex first, UnitCount count, Visit visit) const {
    std::uint32_t offset = first.value - region_.first_unit().value;
    std::uint32_t left = count.value;
    while (left != 0) {
        const std::uint32_t bit = offset % kUnitsPerChunk;
        const std::uint32_t here = left < kUnitsPerChunk - bit ? left : kUnitsPerChunk - bit;
        visit(ChunkIndex(offset / kUnitsPerChunk), run_mask(bit, here));
        offset += here;
        left -= here;
    }
}

}  // namespace gr

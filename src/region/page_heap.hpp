// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hands out runs of units: warm or cold units first, as asked, then the lowest address. Returns empty memory
//    beyond an allowance to the OS.
// Invariant: used, dirty, given_back: disjoint masks for each chunk; lazy is a part of dirty. Dirty (warm) units are
//    free and may be resident. The other free units are cold: they read as zero, or in a scarce region are not mapped
//    until they are used. retained = dirty units * kUnitBytes <= may_retain after every release.
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
#include "region/recent_units.hpp"
#include "region/region.hpp"
#include "region/time_budget.hpp"

namespace gr {

struct Run {
    UnitIndex first;
    UnitCount count;
    bool zeroed = false;  // every byte reads as zero
};

// Which free units are taken first. Warm units are resident already and fault no more: for memory that will be filled.
// Cold units cost only the pages that are touched: for memory that may stay nearly empty.
enum class Prefer : std::uint8_t { warm, cold };

// Which warm units the caches of the caller's CPU may hold.
struct Near {
    CpuGroup group{};               // its chunks come before those of other groups
    RecentUnits *recent = nullptr;  // these units come before all others
};

class PageHeap {
    struct Chunk : BestFitNode {
        std::uint32_t used;
        std::uint32_t dirty;
        std::uint32_t given_back;     // returned to the OS and not used since
        std::uint32_t given_back_at;  // time of the last return, in milliseconds
        std::uint32_t absent_pages;   // pages of dirty units that are not resident
        std::uint32_t lazy;           // dirty units that are freed lazily
        std::uint32_t mapped;         // kept in a scarce region only
        bool left_out;                // core files do not contain the chunk
        bool is_cold() const { return (used | dirty) == 0; }
        std::uint32_t cold() const { return ~(used | dirty); }
    };
    static constexpr Chunk kNeverUsed{};

  public:
    static constexpr std::size_t kFixedBytes = FirstFitIndex::kFixedBytes;
    // Bytes of each of its growing tables for one chunk, in the order of Table.
    static constexpr std::array<std::size_t, kPageHeapTables> kBytesPerChunk = {
        sizeof(Chunk),
        FirstFitIndex::kBytesPerChunk,
        HugePages::kBytesPerChunk,
    };

    explicit constexpr PageHeap(Region &region) : region_(region) {}

    // `memory`: zeroed, kFixedBytes bytes. retain_bytes: the minimum of the allowance.
    // most_earned: the maximum of the reuse allowance.
    void initialise(char *memory, std::size_t retain_bytes, HugePageMaker maker = HugePageMaker::nobody,
                    std::size_t most_earned = SIZE_MAX);

    // A run of `count` units whose first address is a multiple of `alignment` units (a power of two, at most a chunk).
    // near: which warm units are taken first if warm units are preferred. false: no room, no memory, or the calling
    // thread is inside the page heap already.
    bool allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run, Near near = {});
    // absent_pages: pages of the run that are absent already. false: the calling thread is inside the page heap
    // already, nothing was released.
    bool release(UnitIndex first, UnitCount count, std::uint32_t absent_pages = 0);
    // Grows a run in place into the free units behind it. false: these are not free, no memory, or the calling thread
    // is inside the page heap already.
    bool extend(UnitIndex first, UnitCount old_count, UnitCount new_count);

    // The kernel refused a mapping of so many bytes outside the region. Returns the addresses of the memory that the
    // region does not use, unless the region is smaller than the mapping. true: another attempt may succeed.
    bool make_room_outside(std::size_t bytes);

    // Makes the seldom used table cover a run. false: no memory, or the calling thread is inside the page heap already.
    bool ensure_table(std::size_t which, const Run &run);

    // Returns empty memory to the OS until about `keep` bytes are retained. The result: the bytes that were returned.
    std::size_t trim(std::size_t keep) { return purge_beyond(keep); }

    // How many bytes may stay resident: of empty units, and of free pages in used units. The user of a unit returns the
    // unit's free pages.
    std::size_t may_retain() const { return may_stay(allowance_.unit_bytes(present_bytes(), in_use_bytes())); }
    std::size_t may_stay() const { return may_stay(allowance_.page_bytes(present_bytes())); }
    const Allowance &allowance() const { return allowance_; }
    // So many bytes are touched again, of pages that the users of units had returned.
    void retook(std::size_t bytes) {
        const std::uint64_t since = pages_given_back_at_.load(std::memory_order_relaxed);
        allowance_.retook(bytes, platform::rough_nanoseconds() - since);
    }
    // The caller will return so many bytes and take them again soon.
    void expect_reuse(std::size_t bytes) { allowance_.retook(bytes, 0); }
    // The retained bytes that stay only by the reuse allowance, and for how many seconds something has been earned.
    std::size_t reuse_bytes() const {
        const std::size_t base = allowance_.base(present_bytes());
        const std::size_t retained = retained_bytes();
        return allowance_.earned() != 0 && retained > base ? retained - base : 0;
    }
    std::uint64_t reuse_seconds() const {
        const std::uint64_t since = allowance_.earned_since();
        return reuse_bytes() == 0 || since == 0 ? 0 : (platform::rough_nanoseconds() - since) / kNanosecondsPerSecond;
    }
    // Called from slow paths: the reuse allowance falls with time.
    void review(std::size_t free_page_bytes) {
        if (allowance_.earned() == 0) return;
        allowance_.note_pages(free_page_bytes);
        review();
    }
    void review() {
        if (allowance_.earned() != 0 && allowance_.pass(platform::rough_nanoseconds())) retain_what_may_stay();
    }
    // Purges what may not stay any more. Called when more memory is held, in units or outside.
    void retain_what_may_stay();
    // Purges what may not stay any more, for a program that asks for its empty memory to be returned: memory that it did
    // not take again lately may not stay for reuse.
    void retain_what_is_reused() {
        allowance_.end_window_early(platform::rough_nanoseconds());
        retain_what_may_stay();
    }
    // Sets the minimum of the allowance. Memory beyond the new allowance is returned with the next release.
    void set_least_retained(std::size_t bytes) { allowance_.set_least(bytes); }
    // Changes the two numbers of initialise, at any time, and purges what may not stay any more.
    void change_allowance(std::size_t retain_bytes, std::size_t most_earned) {
        allowance_.change(retain_bytes, most_earned);
        retain_what_may_stay();
    }
    // Called by the user of units: when pages of the units were returned; when they are touched again or released.
    void became_absent(std::size_t bytes) {
        absent_bytes_.fetch_add(bytes, std::memory_order_relaxed);
        pages_given_back_at_.store(platform::rough_nanoseconds(), std::memory_order_relaxed);
    }
    // Called by the user of units: pages of the units are absent, and will not be touched before they are released.
    void left_absent(std::size_t bytes) { absent_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void became_present(std::size_t bytes) { absent_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
    std::size_t absent_bytes() const { return load(absent_bytes_); }
    const std::atomic<std::size_t> *absent_cell() const { return &absent_bytes_; }
    // Bytes of used units that may be resident.
    std::size_t present_bytes() const {
        const std::size_t used = used_bytes();
        const std::size_t absent = absent_bytes();
        return used > absent ? used - absent : 0;
    }

    // Waits until the memory that other threads are returning now is no longer held. A signal handler that interrupted
    // one of these threads must not call it.
    void wait_for_purges();
    // In fork's child: ends what the other threads of the parent were doing without the lock.
    void forget_other_threads() {
        purges_ended_.store(purges_begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        huge_pages_.forget_visitor();
    }

    std::size_t retained_bytes() const { return load(dirty_units_) * kUnitBytes; }
    // All that is held and not retained, with direct blocks and tables.
    std::size_t in_use_bytes() const {
        const std::size_t held = limit_.held();
        const std::size_t retained = retained_bytes();
        return held > retained ? held - retained : 0;
    }
    // The retained bytes that the kernel may take when memory is short.
    std::size_t lazy_bytes() const { return load(lazy_units_) * kUnitBytes; }
    std::size_t used_bytes() const { return load(used_units_) * kUnitBytes; }
    // The most that was ever used and retained at once.
    std::size_t peak_bytes() const { return load(peak_units_) * kUnitBytes; }
    std::size_t purged_bytes() const { return load(purged_bytes_); }
    std::size_t purge_calls() const { return load(purge_calls_); }
    platform::Mutex &mutex() { return mutex_; }
    const Region &region() const { return region_; }
    // Counts units that are used or retained, the tables, and what other parts of the instance report.
    MemoryLimit &limit() { return limit_; }
    HugePages &huge_pages() { return huge_pages_; }
    const HugePages &huge_pages() const { return huge_pages_; }
    const MemoryLimit &limit() const { return limit_; }
    bool is_valid() const;

  private:
    enum Table : std::uint8_t { kChunks, kFreeRuns, kHugeStates };
    struct Piece {
        UnitIndex first;
        UnitCount count;
    };
    static constexpr std::uint32_t kWholeChunk = run_mask(0, kUnitsPerChunk);
    static constexpr unsigned kPiecesPerBatch = 64;
    static constexpr unsigned kSearchChunks = 64;
    static constexpr unsigned kLongSearchChunks = 4096;  // bounds the search under the lock to some microseconds
    static constexpr platform::Rank kRank = platform::Rank::page_heap;

    // Written under the lock. Statistics read them without the lock, so the accesses are relaxed.
    using Counter = std::atomic<std::size_t>;
    static std::size_t load(const Counter &c) { return c.load(std::memory_order_relaxed); }
    static void add(Counter &c, std::size_t n) { c.store(load(c) + n, std::memory_order_relaxed); }
    static void subtract(Counter &c, std::size_t n) { c.store(load(c) - n, std::memory_order_relaxed); }
    static void raise(Counter &c, std::size_t n) { c.store(load(c) < n ? n : load(c), std::memory_order_relaxed); }

    // What is known of a chunk that may not have tables yet.
    const Chunk &chunk_at(ChunkIndex c) const {
        return c.value < region_.chunk_count() ? chunks_[c.value] : kNeverUsed;
    }
    std::size_t may_stay(std::size_t allowed) const { return limit_.is_above_soft() ? 0 : allowed; }
    bool find(UnitCount count, UnitCount alignment, UnitIndex *first) const;
    static unsigned surely_holds(UnitCount count, UnitCount alignment);
    static int find_aligned(std::uint32_t mask, unsigned count, unsigned alignment);
    bool find_recent(UnitCount count, RecentUnits *recent, UnitIndex *first) const;
    bool find_warm(UnitCount count, UnitCount alignment, CpuGroup group, UnitIndex *first) const;
    bool find_cold(UnitCount count, UnitCount alignment, UnitIndex *first);
    bool place(ChunkIndex c, std::uint32_t units, UnitCount count, UnitCount alignment, UnitIndex *first) const;
    bool try_allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run, Near near);
    void assign_unused(UnitIndex first, UnitCount count, CpuGroup group);
    bool obtain(UnitIndex first, UnitCount count);
    bool map_missing(UnitIndex first, UnitCount count);
    void unmap_cold(UnitIndex first, UnitCount count, UnitCount least);
    void became_scarce();
    bool is_left_out(ChunkIndex c) const;
    bool may_be_left_out(ChunkIndex c) const;
    void leave_out_of_core_files(UnitIndex first, UnitCount count);
    ChunkIndex leave_out_row(ChunkIndex at);
    void include_in_core_files(UnitIndex first, UnitCount count);
    bool is_free(UnitIndex first, UnitCount count) const;
    bool is_warm(UnitIndex first, UnitCount count) const;
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
    // How claim_dirty searches for pieces.
    struct Search {
        ChunkIndex cursor{UINT32_MAX};  // the search goes downwards from here
        bool split = false;             // whether few units are enough to split a huge page
        bool lazy_too = true;           // whether pieces that are freed lazily already count
        unsigned least = 1;             // the least number of neighbouring units
        std::uint32_t chunks = 0;       // the search ends after so many chunks without a piece; 0: no such end
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
    Fall<kLazyFallParts, kLazyRestParts> fall_;  // of the bytes in use; under the lock
    TimeBudget<kLazyTimeParts, kLazySavedNanoseconds> lazy_budget_;
    Counter absent_bytes_{0};                            // written by any thread without the lock; relaxed
    std::atomic<std::uint64_t> pages_given_back_at_{0};  // likewise; nanoseconds
    Counter purged_bytes_{0};
    Counter purge_calls_{0};
    // Counts of batches, modulo 2^32. The first is written under the lock, the second without it. release, after the
    // limit was lowered: pairs with the acquire in wait_for_purges.
    std::atomic<std::uint32_t> purges_begun_{0};
    std::atomic<std::uint32_t> purges_ended_{0};
    // What every call writes lies side by side, because these cache lines move from CPU to CPU.
    alignas(kCacheLineBytes) platform::Mutex mutex_;
    std::uint32_t cold_from_ = 0;  // no chunk below it has a free unit that is not dirty
    std::uint32_t chunk_end_ = 0;  // no chunk at or beyond it was ever used
    Counter used_units_{0};
    Counter dirty_units_{0};
    Counter lazy_units_{0};
    ChunkIndex lazy_cursor_{UINT32_MAX};  // the next search for units to free lazily goes downwards from here
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one whole allocator: region, superblocks, heaps, runs and direct blocks put together, and its life cycle.
// Invariant: constant-initialised; malloc's instance is usable before the first constructor and after the last
//    destructor.
// Must not know: the C library's and C++'s names for what it does.
#pragma once

#include <array>
#include <span>

#include "heap/direct.hpp"
#include "heap/heaps.hpp"
#include "instance/filling.hpp"
#include "instance/options.hpp"
#include "instance/zero_credit.hpp"
#include "platform/libc_rules.hpp"

namespace gr {

using PressureCall = void (*)(void *context, std::size_t held_bytes);

class Instance {
  public:
    constexpr Instance() = default;

    // Each returns a block, or nullptr: there is no memory, or the size is above kMaxRequest.
    void *allocate(std::size_t size);
    // For a caller that has just found no cached block of the class. Not where new blocks are filled.
    void *allocate_uncached(ClassIndex c);
    void *allocate_zeroed(std::size_t size);
    // A cached block of the class. nullptr: none is cached, or there are no sequences; then call allocate(). Not for
    // malloc's instance.
    void *pop(ClassIndex c) {
        return found_ == nullptr ? nullptr : platform::gr_sequence_pop(magazine_of(c), &found_->slabs);
    }
    // Moves cached blocks of the class into `blocks`, and returns how many. Otherwise as pop().
    std::size_t pop_some(ClassIndex c, std::span<void *> blocks) {
        if (found_ == nullptr) return 0;
        const std::int32_t cid = platform::current_cid(platform::gr_sequence_state);
        if (cid < 0) return 0;
        const std::int64_t count =
            platform::gr_sequence_pop_n(static_cast<std::uint32_t>(cid), magazine_of(c), blocks.data(),
                                        static_cast<std::uint32_t>(blocks.size()), &found_->slabs);
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment);  // a power of two
    // A block of whole units for `size` bytes, at a multiple of a unit. Pages behind the first `kept` bytes, a unit of
    // them at most, take no memory and do not count in its size.
    enum class Contents : bool { any, zero };
    void *allocate_run(std::size_t size, std::size_t kept, Contents contents);
    // Puts the block into a magazine and adds its size to the counter. false: nothing was done; then call free(). Not
    // for malloc's instance. As in the entry free, an address that is no block's beginning is found when the magazine
    // is looked at.
    bool push(void *p, std::uint64_t *counter) {
        if (found_ == nullptr || reinterpret_cast<std::uintptr_t>(p) % kFineStep != 0) return false;
        const UnitEntry e = entry_at(p);
        return platform::gr_sequence_push(p, e, &found_->slabs, size_of_class(class_in(e)), counter);
    }
    // Resizes the block in place or moves it. nullptr: the old block is unchanged. `function` names the caller in a
    // message about misuse.
    [[gnu::nonnull(3)]] void *resize(const char *function, void *p, std::size_t size);
    void *allocate_aligned_zeroed(std::size_t size, std::size_t alignment);  // a power of two
    // Like resize; the result is a multiple of the alignment, a power of two.
    [[gnu::nonnull(3)]] void *resize_aligned(const char *function, void *p, std::size_t size, std::size_t alignment);
    // Resizes in place to `wanted` bytes, or else to `least`. Returns the usable size afterwards. 0: it would be less
    // than `least`, and nothing has changed.
    [[gnu::nonnull(3)]] std::size_t resize_in_place(const char *function, void *p, std::size_t least,
                                                    std::size_t wanted);
    void free(const char *function, void *p);
    // The usable size of the block that a request of `size` bytes gets. 0: the request is refused.
    std::size_t good_size(std::size_t size) const;
    std::size_t usable_size(const char *function, const void *p);
    bool owns(const void *p) const;
    std::size_t size_of(const void *p) const;  // only of a block that the instance owns
    // Whether p lies in the region or is a direct block of this instance.
    bool contains(const void *p) const { return region_.contains(p) || direct_.size_of(p) != 0; }

    std::size_t trim(std::size_t keep);
    // Called at each tick of the background thread: reclaims what idle heaps have cached.
    void reclaim_idle() { heaps_.reclaim_idle(); }
    // The function that is called after the memory held has risen above the soft limit. A thread that allocates calls
    // it, with no lock held.
    void on_pressure(PressureCall call, void *context);

    // New values of options while the program runs, set by one thread at a time. Empty memory beyond a new bound is
    // returned to the OS at once; magazines keep the size that they have.
    void change_retention(std::size_t retain, std::size_t reuse) { pages_.change_allowance(retain, reuse); }
    void return_free_pages();
    void change_magazine_budget(std::size_t bytes) { heaps_.set_magazine_budget(bytes); }
    // false: the hard limit leaves no room beside the tables, and nothing has changed.
    bool change_limits(std::size_t soft, std::size_t hard);
    bool may_have_direct() const { return !direct_.is_forbidden(); }
    // Stores a value for options(). `direct` stays as it is where direct blocks are forbidden.
    void set_option(std::size_t Options::*which, std::size_t value) {
        if (which != &Options::direct || may_have_direct()) store_option(options_.*which, value);
    }

    // A thread that holds the locks of every rank finds no block in flight. Release them in reverse order: once the
    // lock of the activation is free, there may be new heaps that were never locked.
    static constexpr std::array kRanks = {platform::Rank::sweep,  platform::Rank::activation,
                                          platform::Rank::heap,   platform::Rank::global_bin,
                                          platform::Rank::nobody, platform::Rank::page_heap};
    void lock_all(platform::Rank rank);
    void unlock_all(platform::Rank rank);
    // Call it after the last unlock_all.
    void settle_all();
    // In fork's child: forgets what the parent's other threads were doing without a lock.
    void forget_other_threads() { pages_.forget_other_threads(); }

    // Malloc's instance starts on first use. false: it cannot start yet, or there are no addresses for a region; then
    // every block is a direct one.
    bool ensure_started() { return state_.load(std::memory_order_acquire) == State::ready || start(); }
    // Starts any other instance, once, without sequences. It takes the options of `first` and what `first` found at its
    // start, since the program may have lost access to files. `free_function` names the function that frees its blocks,
    // in a message about misuse. false: no address space or no memory; nothing is left behind.
    bool start_beside(const Instance &first, std::size_t region_bytes, const char *free_function);
    // Like start_beside, but with sequences where they are possible, and in a place of the caller's. All blocks lie
    // there, large ones, too. The sequences look for the slabs at *found. No option fills these blocks: the collector
    // that owns them knows what new blocks hold.
    struct Within {
        char *place;
        std::size_t bytes;
        std::size_t
            address_limit;  // the bytes that the process may map, and the place is not; SIZE_MAX: it is reserved
    };
    bool start_within(const Options &options, const Within &within, const char *free_function,
                      platform::SlabsPlace *found);
    // From now on the entries in assembly may free blocks of this instance, by what they find at *found.
    void let_entries_free() {
        if (found_ != nullptr) region_.publish_fine_end(&found_->fine_limit);
    }
    // Only for malloc's instance: whether malloc's entry may serve requests, or leaves each one to the slow path. May
    // be called at any time: until a thread sees the change, it is served in the other way.
    void let_entry_allocate(bool may);
    // From now on all blocks lie in the region, large ones, too.
    void forbid_direct() {
        options_.direct = SIZE_MAX;
        direct_.forbid();
    }
    // Returns to the OS everything that start_beside and the blocks took. The instance and its blocks may not be used
    // any more.
    void end();

    // Another instance that some blocks of this one come from, for ever. Statistics and messages count them as this
    // one's.
    void take_companion(const Instance *other) { companion_.store(other, std::memory_order_release); }
    const Instance *companion() const { return companion_.load(std::memory_order_acquire); }

    // The link of the list of all instances (Instances), under the lock of the list.
    Instance *&next() { return next_; }

    // For a collection: all locks are held, and no thread runs but the caller. A walk reads the cached blocks by it
    // while all locks are held and the sequences are stopped.
    CollectorView &collector_view() { return heaps_.collector_view(); }
    // After the collection, with no lock held: releases what the collection left empty, and restores the emptiness
    // invariant.
    void settle_collected() { heaps_.settle_collected(); }
    // Before settle_collected: at least so many empty bytes may stay, whatever the options say.
    void set_least_retained(std::size_t bytes) { pages_.set_least_retained(bytes); }
    // Returns the empty memory that may not stay to the OS at once: by the allowance as time has left it; or for a
    // program that asks for this, which may keep for reuse only what it took again lately.
    void retain_what_may_stay() {
        pages_.review();
        pages_.retain_what_may_stay();
    }
    void retain_what_is_reused() { pages_.retain_what_is_reused(); }
    // A block of whole units that the collection found dead. false: it was released already.
    bool release_run(Superblock *run) { return heaps_.store().release_run(run); }
    // At any time: the program will soon request again so many of the bytes that a collection found dead.
    void expect_reuse(std::size_t bytes) { pages_.expect_reuse(bytes); }

    const Options &options() const { return options_; }
    const Filling &filling() const { return filling_; }
    const Region &region() const { return region_; }
    const PageHeap &pages() const { return pages_; }
    const Superblocks &superblocks() const { return superblocks_; }
    const Heaps &heaps() const { return heaps_; }
    const Direct &direct() const { return direct_; }
    // What is wrong in the structures of this instance, or nullptr. Takes every lock of the instance.
    const char *first_fault();

  private:
    enum class State : std::uint32_t { cold, starting, ready, without_region };

    // Larger blocks are direct ones. The region's size is an upper bound, whatever the option says.
    std::size_t largest_run() const {
        const std::size_t region = region_.chunk_limit() * kChunkBytes;
        const std::size_t direct = load_option(options_.direct);
        return direct < region ? direct : region;
    }
    std::size_t growth_limit() const {
        const std::size_t direct = load_option(options_.direct);
        return direct < kGrowthLimit ? direct : kGrowthLimit;
    }
    bool start();
    bool set_up();
    HeapsSetup heaps_within(std::size_t slabs_most, std::uint32_t ids, char **found_at) const;
    HeapsSetup scarce_heaps_within(std::size_t slabs_most, char **found_at) const;
    template <class Take>
    bool lay_out(HeapsSetup setup, Take take);
    void set_limits();
    bool leaves_room(std::size_t hard_limit) const;
    void publish();
    template <class Attempt>
    void *within_limits(std::size_t size, Attempt attempt);
    template <class Attempt>
    void *after_giving_back(Attempt attempt);
    std::size_t given_back_bytes() const { return pages_.purged_bytes() + heaps_.swept_bytes(); }
    void relieve();
    void *allocate_once(std::size_t size);
    void *allocate_zeroed_once(std::size_t size);
    void *allocate_aligned_once(std::size_t size, std::size_t alignment, bool *zeroed);
    void *cleared(void *p, std::size_t size, bool zeroed);
    void *resize_once(const char *function, void *p, std::size_t size);
    void *resize_aligned_once(const char *function, void *p, std::size_t size, std::size_t alignment);
    [[gnu::cold]] void *allocate_filled(std::size_t size);
    [[gnu::cold]] void *fill_new(void *p, std::size_t begin) const;
    template <class Attempt>
    [[gnu::cold]] void *resize_filled(const char *function, void *p, std::size_t size, Attempt attempt);
    [[gnu::cold]] void fill_resized(void *from, void *to, std::size_t size, std::size_t old_size) const;
    [[gnu::cold]] void fill_freed(const char *function, void *p) const;
    static bool wastes_units(std::size_t size);
    void *allocate_large(std::size_t size, std::size_t alignment, bool *zeroed);
    void *acquire_run(std::size_t size, std::size_t alignment, std::size_t kept, bool *zeroed);
    // 0: no block of the region begins in this unit. p may be a direct block, which can lie in the range of a scarce
    // region, too.
    UnitEntry entry_at(const void *p) const {
        return region_.contains(p) ? load_entry(region_, region_.unit_of(p)) : UnitEntry{0};
    }
    void free_direct(const char *function, void *p);
    void free_run(const char *function, void *p);
    [[noreturn]] void die_outside(const char *function, const void *p) const;
    [[noreturn]] void die_of(const char *function, const void *p, const BlockRef &ref) const;
    void fill_given_up(const Superblock *run, UnitCount kept) const;
    void *resize_run(Superblock *run, std::size_t size);
    bool should_remap(std::size_t old_size, std::size_t size) const {
        return size > kClassLimit && (size > old_size || size * 2 > growth_limit());
    }
    void *without_copy(void *p, std::size_t old_size, std::size_t size);
    bool set_size_in_place(void *p, std::size_t size);
    void *move(const char *function, void *p, std::size_t old_size, std::size_t size);
    void *move_to(void *to, const char *function, void *p, std::size_t old_size, std::size_t size);
    Superblock *run_at(const void *p) const;

    Region region_;
    Superblocks superblocks_{region_};
    PageHeap pages_{region_};
    Heaps heaps_{region_, superblocks_, pages_};
    Direct direct_{};
    Options options_{};
    Filling filling_{};
    ZeroCredit zero_credit_{};
    Instance *next_ = nullptr;
    std::atomic<const Instance *> companion_{nullptr};  // release, pairs with companion()'s acquire: it has started
    // Where the sequences look for this instance's slabs. nullptr: it has no sequences, or it is malloc's instance.
    platform::SlabsPlace *found_ = nullptr;
    platform::HugePagesFor huge_pages_for_ = platform::HugePagesFor::nobody;  // read for HugePolicy::automatic only
    std::atomic<State> state_{State::cold};  // release when ready, with the acquire loads: publishes all above
    std::atomic<std::uint32_t> starter_{0};  // the starting thread's tag; a thread compares it with its own only
    std::atomic<PressureCall> pressure_call_{nullptr};  // release after the context; acquire before the call
    std::atomic<void *> pressure_context_{nullptr};     // ordered by pressure_call_
};

// The reason that a feature gives when it needs a second region or spare addresses and the region is scarce.
inline constexpr const char *kTooScarce =
    "the limit on address space (RLIMIT_AS) or data (RLIMIT_DATA) is too low; raise it";

// Malloc's instance, which the libc names serve.
extern Instance instance;

}  // namespace gr

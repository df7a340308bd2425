// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one whole allocator: region, superblocks, heaps, runs and direct blocks put together, and its life cycle.
// Invariant: constant-initialised; the global one is usable before the first constructor and after the last destructor.
// Must not know: the C library's and C++'s names for what it does.
#pragma once

#include <array>

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

    // Blocks; nullptr when there is no memory. The size is at most kMaxRequest.
    void *allocate(std::size_t size);
    // A block of the class for who has found no cached one; not where new blocks are filled.
    void *allocate_uncached(ClassIndex c);
    void *allocate_zeroed(std::size_t size);
    // A cached block of the class, or nullptr: none, or no sequences; then allocate() is to be asked. Of any instance but
    // the global one.
    void *pop(ClassIndex c) {
        return found_ == nullptr ? nullptr : platform::gr_sequence_pop(magazine_of(c), &found_->slabs);
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment);  // a power of two
    // Into a magazine, and counted; false: it is not, and free() is to be asked. Of any instance but the global one; as
    // that one's free, what is no beginning of a block is found when the magazine is looked at.
    bool push(void *p, std::uint64_t *counter) {
        if (found_ == nullptr || reinterpret_cast<std::uintptr_t>(p) % kFineStep != 0) return false;
        const UnitEntry e = entry_at(p);
        return platform::gr_sequence_push(p, e, &found_->slabs, size_of_class(class_in(e)), counter);
    }
    // In place or moved; nullptr: the old block stands. `function` names the caller in a message about misuse.
    [[gnu::nonnull(3)]] void *resize(const char *function, void *p, std::size_t size);
    void *allocate_aligned_zeroed(std::size_t size, std::size_t alignment);  // a power of two
    // As resize, to a multiple of the alignment, a power of two.
    [[gnu::nonnull(3)]] void *resize_aligned(const char *function, void *p, std::size_t size, std::size_t alignment);
    // In place, to `wanted` bytes or else to `least`. The usable size afterwards, or 0: it would be less than `least`, and
    // nothing has changed.
    [[gnu::nonnull(3)]] std::size_t resize_in_place(const char *function, void *p, std::size_t least,
                                                    std::size_t wanted);
    void free(const char *function, void *p);
    // The usable size of a block for a request of so many bytes; 0: such a request is refused.
    std::size_t good_size(std::size_t size) const;
    std::size_t usable_size(const char *function, const void *p);
    bool owns(const void *p) const;
    std::size_t size_of(const void *p) const;  // of a block that is owned
    // Whether the address lies where blocks of this one may be.
    bool contains(const void *p) const { return region_.contains(p) || direct_.size_of(p) != 0; }

    std::size_t trim(std::size_t keep);
    // A tick of the background thread has gone by: what heaps that have been idle for some have cached.
    void reclaim_idle() { heaps_.reclaim_idle(); }
    // Called, with no lock held, by a thread whose request took the memory held above the soft limit.
    void on_pressure(PressureCall call, void *context);

    // New values of options while the program runs, by one thread at a time. Empty memory beyond a new bound goes at once;
    // magazines keep the size that they have.
    void change_retention(std::size_t retain, std::size_t reuse) { pages_.change_allowance(retain, reuse); }
    void return_free_pages();
    void change_magazine_budget(std::size_t bytes) { heaps_.set_magazine_budget(bytes); }
    // false: the hard limit leaves no room beside the tables; nothing changed.
    bool change_limits(std::size_t soft, std::size_t hard);
    bool may_have_direct() const { return !direct_.is_forbidden(); }
    // And this is what options() has from then on.
    void set_option(std::size_t Options::*which, std::size_t value) {
        if (which != &Options::direct || may_have_direct()) store_option(options_.*which, value);
    }

    // Whoever holds the locks of every rank finds nothing in flight. Let go in reverse: with the activation free, there
    // may be heaps that were never locked.
    static constexpr std::array kRanks = {platform::Rank::sweep,  platform::Rank::activation,
                                          platform::Rank::heap,   platform::Rank::global_bin,
                                          platform::Rank::nobody, platform::Rank::page_heap};
    void lock_all(platform::Rank rank);
    void unlock_all(platform::Rank rank);
    // After the last of them.
    void settle_all();
    // In fork's child: what threads that it does not have were doing without a lock.
    void forget_other_threads() { pages_.forget_other_threads(); }

    // The global one starts on first use. false: not possible yet, or no address space at all; then every block is a
    // direct one.
    bool ensure_started() { return state_.load(std::memory_order_acquire) == State::ready || start(); }
    // Any other, once: with the options of the first and what that found at its start, for a program may have shut itself
    // off from files since; without sequences. `free_function` is who frees its blocks, in a message about misuse.
    // false: no address space, no memory; nothing is left.
    bool start_beside(const Instance &first, std::size_t region_bytes, const char *free_function);
    // The same, with sequences, in a place of so many bytes that the caller has reserved; all its blocks lie there, large
    // ones, too. Its sequences look for its slabs at *found. Its blocks are filled by none of the options: whoever collects
    // them knows what new ones hold.
    bool start_within(const Options &options, char *place, std::size_t bytes, const char *free_function,
                      platform::SlabsPlace *found);
    // From now on entries in assembly may free its blocks by what is found there.
    void let_entries_free() {
        if (found_ != nullptr) region_.publish_fine_end(&found_->fine_limit);
    }
    // Of the global one: whether malloc's entry may serve requests, or leaves each to the slow path. At any time: a thread
    // that sees it late has been served the other way.
    void let_entry_allocate(bool may);
    // From now on all blocks lie in the region, large ones, too.
    void forbid_direct() {
        options_.direct = SIZE_MAX;
        direct_.forbid();
    }
    // Gives everything back that start_beside and the blocks took; nobody may use either any more.
    void end();

    // Another one that some of this one's blocks come from, for ever: they are this one's to whoever asks.
    void take_companion(const Instance *other) { companion_.store(other, std::memory_order_release); }
    const Instance *companion() const { return companion_.load(std::memory_order_acquire); }

    // Of the list of all of them, under its lock.
    Instance *&next() { return next_; }

    // For who collects what nobody can reach. All locks are held, and no thread runs but the caller.
    CollectorView &collector_view() { return heaps_.collector_view(); }
    // Afterwards, with no lock held: what it left empty or out of balance; and a block of whole units that it found dead.
    void settle_collected() { heaps_.settle_collected(); }
    // Before that: so much of what is empty may stay, whatever the options say; and at once no more than may.
    void set_least_retained(std::size_t bytes) { pages_.set_least_retained(bytes); }
    void retain_what_may_stay() { pages_.retain_what_may_stay(); }
    bool release_run(Superblock *run) { return heaps_.store().release_run(run); }
    // At any time: so many bytes that it found dead will be wanted again before long.
    void expect_reuse(std::size_t bytes) { pages_.expect_reuse(bytes); }

    const Options &options() const { return options_; }
    const Filling &filling() const { return filling_; }
    const Region &region() const { return region_; }
    const PageHeap &pages() const { return pages_; }
    const Superblocks &superblocks() const { return superblocks_; }
    const Heaps &heaps() const { return heaps_; }
    const Direct &direct() const { return direct_; }
    // What is_valid finds wrong in the whole, or nullptr. Locks everything.
    const char *first_fault();

  private:
    enum class State : std::uint32_t { cold, starting, ready, without_region };

    // Larger blocks are direct ones, whatever the option says.
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
    bool can_have_sequences(std::uint32_t heaps, std::size_t slabs_most) const;
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
    void *allocate_large(std::size_t size, std::size_t alignment, bool *zeroed);
    // 0 where no block of the region begins: then it is a direct one, which may lie in the range of a scarce region, too.
    UnitEntry entry_at(const void *p) const {
        return region_.contains(p) ? load_entry(region_, region_.unit_of(p)) : UnitEntry{0};
    }
    void free_direct(const char *function, void *p);
    void free_run(const char *function, void *p);
    [[noreturn]] void die_outside(const char *function, const void *p) const;
    [[noreturn]] void die_of(const char *function, const void *p, const BlockRef &ref) const;
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
    std::atomic<const Instance *> companion_{nullptr};  // release, with the acquire of who finds it: it has started
    // Where sequences look for the slabs of any instance but the global one; nullptr: it has none.
    platform::SlabsPlace *found_ = nullptr;
    platform::HugePagesFor huge_pages_for_ = platform::HugePagesFor::nobody;  // asked for one policy only
    std::atomic<State> state_{State::cold};  // release when ready: publishes everything above
    std::atomic<std::uint32_t> starter_{0};  // the tag of the thread that starts; only compared with one's own
    std::atomic<PressureCall> pressure_call_{nullptr};  // release, after the context; acquire before it is called
    std::atomic<void *> pressure_context_{nullptr};     // ordered by the call
};

// Why what needs a second region, or addresses to spare, is refused in a process whose region is scarce.
inline constexpr const char *kTooScarce =
    "the limit on address space (RLIMIT_AS) or data (RLIMIT_DATA) is too low; raise it";

// The one that the libc names serve.
extern Instance instance;

}  // namespace gr

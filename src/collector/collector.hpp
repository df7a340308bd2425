// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the interface of this folder, composed of its objects: blocks of the kinds, the lock, and when which kind of
//    collection runs.
// Invariant: one collection at a time. No block that is reachable is ever freed: if roots cannot be found or scanned,
//    the collection ends and every block stays. But of a thread that blocks the signal of the stop and cannot be traced,
//    only what its stack holds while it sleeps in the kernel is seen.
// Must not know: which names programs call; how a collection marks and sweeps.
#pragma once

#include <cstring>
#include <span>

#include "collector/blocks.hpp"
#include "collector/collection_parts.hpp"
#include "collector/incremental_collection.hpp"
#include "collector/minor_collection.hpp"
#include "collector/stopped_collection.hpp"

namespace gr {

class Collector {
  public:
    constexpr Collector() = default;

    // Once. false: no addresses or no signal; then nothing can be collected or allocated.
    bool start(int signal);
    // In place of start(), where the only kind is an allocator that has started. Everything that the process has
    // written to is a root then.
    bool start_over(Instance &adopted, const KindSetup &setup, int signal);
    bool is_started() const { return started_.load(std::memory_order_acquire); }

    // Under the lock.
    Kind *make_kind(const KindSetup &setup);
    Kind *kind(std::uint32_t number) const { return kinds_.kind(number); }
    // The program looks at the kind's dead blocks from now on.
    void tell_dead(std::uint32_t number) { kinds_.kind(number)->tells_dead = true; }
    // Whether, besides, each of them stays in the sweep, until free_dead() frees it.
    void keep_dead(std::uint32_t number, bool wanted) { kinds_.kind(number)->keeps_dead = wanted; }
    const Kinds &kinds() const { return kinds_; }
    std::uint32_t kind_count() const { return kinds_.count(); }

    // The block is zeroed if the kind says so. nullptr: no memory, even after a collection. `beyond`: so many bytes at
    // the end of the size are there only for pointers that lead to the block, and hold nothing.
    void *allocate(Kind &kind, std::size_t size, std::size_t beyond = 0) {
        if (size - 1 < kClassLimit) [[likely]] {
            const ClassIndex c = class_of(size);
            if (void *const p = kind.instance.pop(c)) [[likely]]
                return as_new(kind, p, size_of_class(c));
        }
        return allocate_slowly(kind, size, beyond);
    }
    void *allocate_aligned(Kind &kind, std::size_t size, std::size_t alignment, std::size_t beyond) {
        if (const ClassIndex c = class_of_aligned(size, alignment); c.value != 0) [[likely]] {
            if (void *const p = kind.instance.pop(c)) [[likely]]
                return as_new(kind, p, size_of_class(c));
        }
        return allocate_aligned_slowly(kind, size, alignment, beyond);
    }
    // Fills `blocks` from its front with blocks of this size, as many as one magazine has, at least one. Returns how many.
    // 0: no memory, even after a collection.
    std::size_t allocate_some(Kind &kind, std::size_t size, std::span<void *> blocks) {
        if (size - 1 < kClassLimit) {
            const ClassIndex c = class_of(size);
            if (const std::size_t count = kind.instance.pop_some(c, blocks); count != 0) {
                if (kind.clears_new()) {
                    for (void *const p : blocks.first(count)) zero_block(p, size_of_class(c));
                }
                return count;
            }
        }
        blocks.front() = allocate(kind, size);
        return blocks.front() == nullptr ? 0 : 1;
    }
    // true: the block was freed and counted. false: it was not, and the caller asks free(). An address that is no block
    // may be found out later.
    bool free_quickly(void *p, std::uint64_t *counter) const {
        const Kind *const kind = kinds_.kind_of(p);
        return kind != nullptr && kind->may_be_freed_unseen() && kind->instance.push(p, counter);
    }
    // An address that is no block ends the process.
    static void free(Kind &kind, void *p) {
        kind.instance.free("GC_free", p);
        // Until here a register or the stack holds the block: a collection that stops this thread must not free it
        // first.
        asm volatile("" : : "r"(p));
    }
    // The block that the address points into.
    [[gnu::always_inline]] BlockAt block_at(const void *p) const { return blocks_.at(p); }
    bool may_be_block(const void *p) const { return kinds_.field().may_point(reinterpret_cast<std::uintptr_t>(p)); }
    const Field &field() const { return kinds_.field(); }
    // Under the lock, between collections.
    void set_accepts(Field::Accepts accepts) {
        if (kinds_.field().accepts() != accepts) {
            abandon_incremental();
            generations_.forget();
        }
        kinds_.field().set_accepts(accepts);
    }
    bool is_marked(const void *p) const { return blocks_.is_marked(p); }
    void set_mark(const void *p, bool marked) { blocks_.set_mark(p, marked); }
    template <class Visit>
    void for_each_block(Kind &kind, Visit visit) const {
        blocks_.for_each(kind, visit);
    }
    template <class Visit>
    void for_each_dead(const Kind &kind, Visit visit) const {
        blocks_.for_each_dead(kind, visit);
    }
    static void free_dead(Kind &kind, std::span<void *const> blocks) { SweepPhase::free_dead(kind, blocks); }

    // Collects all kinds now. Nothing is done while collections are disabled, inside the allocator, or in a hook.
    CollectionReport collect(Reason reason = Reason::asked) { return collect(hooks_.must_stop, reason); }
    // Like collect(), for a thread whose stack is in use from the pointer on only: calls below it are over.
    CollectionReport collect_above(const char *stack_pointer);
    // Collects if a collection is due, as lock_to_collect() has it. false: it was due and could not be done.
    bool collect_if_due();
    // The lock, for a thread that wants a collection. false: another thread collected, and the caller waited until that
    // was over, however long it took, so that the heap did not grow meanwhile. But while a third thread holds what the
    // collecting thread may wait for, the caller waits for kMostWait at most: the third thread may need something of
    // the caller's.
    bool lock_to_collect();
    CollectionReport collect(bool (*must_stop)(), Reason reason = Reason::asked);

    // Under the lock. From now on a collection that is due is incremental. A collection that the program asks for still
    // stops it. nullptr: done. Else the text says what is lacking.
    const char *enable_incremental() { return incremental_.enable(); }
    bool is_incremental() const { return incremental_.is_enabled(); }
    // Called by any thread. An incremental collection begins, if none is under way and they are enabled.
    void request_incremental() { incremental_.call(); }
    bool is_incremental_under_way() const { return incremental_.is_under_way(); }
    // Until the incremental collection that is under way ends, for at most so many milliseconds.
    void wait_for_incremental(unsigned milliseconds) { incremental_.wait(milliseconds); }
    // Under the lock. Before fork, and before the field changes: the marks of an incremental collection are lost.
    void abandon_incremental() { incremental_.abandon(); }

    // Under the lock. From now on minor collections come before a collection that is due: they collect the blocks that were
    // taken since the last collection. nullptr: done. Else the text says what is lacking.
    const char *enable_generations() { return generations_.enable(); }
    bool has_generations() const { return generations_.is_enabled(); }
    // Collects the young blocks now; all blocks, if it is not known which are young. Otherwise like collect().
    CollectionReport collect_young() { return collect(Reason::young); }

    const CollectionReport &last() const { return history_.last(); }
    std::size_t present_bytes() const { return kinds_.present_bytes(); }
    bool is_due() const { return pace_.is_due(present_bytes()) || finalization_.is_due(); }

    // Of everything that is not a block. The calling thread may hold the lock already.
    void lock() { lock_.lock(); }
    bool try_lock() { return lock_.try_lock(); }
    void unlock() { lock_.unlock(); }
    bool is_locked_by_me() const { return lock_.is_mine(); }

    // Under the lock.
    Roots &roots() { return roots_; }
    Hooks &hooks() { return hooks_; }
    Pace &pace() { return pace_; }
    MarkProcedures &procedures() { return procedures_; }
    Finalization &finalization() { return finalization_; }
    Markers &markers() { return markers_; }

    // For hooks, while the threads stand and what is reachable is being marked.
    void push_threads() { root_scanner_.push_threads(); }
    void push(platform::Range range) { Marker::current()->scan(range); }
    // For hooks, when what is reachable is marked: the bits of the marked blocks in one word of a superblock's bitmap.
    // A run has the lowest bit.
    Word reached(const Kind &kind, const Superblock *s, std::uint32_t word) const {
        return kind.marks.live(s, word, numbers_.current());
    }

    // Before fork the caller takes the lock and calls abandon_incremental(), so that no thread is stopped; in the child
    // it calls forget_other_threads() before unlock().
    void forget_other_threads();

  private:
    // The block as the kind hands it out.
    [[gnu::always_inline]] static void *as_new(const Kind &kind, void *p, std::size_t bytes) {
        return kind.clears_new() ? zero_block(p, bytes) : p;
    }
    void publish_tables();
    void *allocate_aligned_slowly(Kind &kind, std::size_t size, std::size_t alignment, std::size_t beyond);
    void *allocate_slowly(Kind &kind, std::size_t size, std::size_t beyond);
    template <class Attempt>
    void *after_collecting(std::size_t bytes, Attempt attempt);
    [[gnu::noinline]] CollectionReport collect_and_unlock(bool (*must_stop)(), Reason reason,
                                                          std::size_t most_rescanned = SIZE_MAX);
    CollectionReport collect_locked(bool (*must_stop)(), Reason reason, std::size_t most_rescanned);
    bool collect_in_turn();
    // Whether a collection of all blocks is due.
    bool is_whole_due(std::size_t held) const;
    bool is_young_due(std::size_t held) const;

    // Milliseconds, for a collection that may have to wait for a third thread.
    static constexpr unsigned kMostWait = 10;
    static const platform::Helper kMarkingThread;
    static const platform::Helper kCollectingThread;

    // Each object knows some of those above it, and none below.
    Kinds kinds_;
    CollectorLock lock_;
    Hooks hooks_;
    Roots roots_;
    Pace pace_;
    MarkProcedures procedures_{};
    Finalization finalization_;
    CollectionHistory history_;
    Pacer pacer_{kinds_, roots_, history_, pace_};
    Markers markers_{kinds_.field(), procedures_, kMarkingThread};
    MarkNumbers numbers_{kinds_};
    Blocks blocks_{kinds_, numbers_};
    CachedBlocks cached_blocks_{kinds_, numbers_};
    DirtyPages dirty_pages_{kinds_};
    Generations generations_{kinds_, dirty_pages_};
    Stopper stopper_{kinds_, roots_, hooks_, markers_};
    RootScanner root_scanner_{kinds_, roots_, hooks_, markers_, finalization_};
    MarkPhase mark_phase_{kinds_, numbers_, markers_, hooks_, finalization_};
    SweepPhase sweep_phase_{kinds_, numbers_, blocks_, pacer_};
    MemoryReturn memory_return_{kinds_, sweep_phase_, markers_, roots_, pace_};
    CollectionParts parts_{lock_,        kinds_,         hooks_,        pace_,        pacer_,         numbers_,
                           markers_,     stopper_,       root_scanner_, dirty_pages_, cached_blocks_, mark_phase_,
                           sweep_phase_, memory_return_, history_,      generations_};
    StoppedCollection stopped_{parts_};
    MinorCollection minor_{parts_};
    IncrementalCollection incremental_{parts_, kCollectingThread};

    const char *given_stack_pointer_ = nullptr;  // by collect_above()
    std::atomic<bool> started_{false};           // released by start(), acquired by is_started()
};

extern Collector collector;

}  // namespace gr

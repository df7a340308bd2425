// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the collection: when it is due, and its steps from the stop to the last page given back; and blocks of the
//    kinds.
// Invariant: one at a time; who collects holds the locks of all instances from before the stop until after it, so that
//    no block is in flight but in registers and on stacks. Nothing reachable is ever freed: what cannot be found out or
//    scanned ends the collection, and everything stays; but who blocks the signal is seen only as far as it sleeps in
//    the kernel.
// Must not know: which names programs call.
#pragma once

#include <bit>
#include <cstring>

#include "collector/collection_log.hpp"
#include "collector/cycle.hpp"
#include "collector/finalization.hpp"
#include "collector/kinds.hpp"
#include "collector/markers.hpp"
#include "collector/pace.hpp"
#include "collector/roots.hpp"
#include "instance/instances.hpp"
#include "platform/clock.hpp"

namespace gr {

enum class Step : std::uint8_t { begin, stopping, stopped, marking, marked, sweeping, swept, resuming, resumed, end };

// What a program is told and asked in the course of a collection. Nothing of it may allocate from a kind but `begin` and
// `end`; from `stopped` to `resuming` no other thread runs.
struct Hooks {
    void (*step)(Step step) = nullptr;
    bool (*must_stop)() = nullptr;   // asked before the stop; true: no collection
    void (*push_roots)() = nullptr;  // in place of stacks and what else threads have: see push_threads()
    JavaFinalization (*finalizes_as_java)() = nullptr;  // on, if nobody says
    // All that stays is marked; what it marks and pushes stays, too.
    void (*reached)() = nullptr;
    // Whether any of these, or a mark procedure, runs code of the program's in a stop.
    bool (*calls_program)() = nullptr;
    // Of a kind that is held back: the bits of blocks, of one word of a superblock's bitmap, that are used and do not wait.
    Word (*in_use)(const Superblock *s, std::uint32_t word) = nullptr;
    // After the first that could not be: the next would say the same.
    void (*refused)(const char *why) = nullptr;
    // After a collection that was done, with no lock held; not where the caller of collect() holds the collector's.
    void (*after)() = nullptr;
};

// A block that somebody may be using, or that is cached.
struct BlockAt {
    void *begin = nullptr;  // nullptr: none
    std::size_t bytes = 0;
    std::size_t extent = 0;  // pointers that lead to it: `bytes`, or more
    Kind *kind = nullptr;
    Mark *mark = nullptr;  // nullptr: it has none before the first collection that finds it

    // What a program may write to: with the byte that may be there only for pointers past the end.
    std::size_t usable() const { return bytes < extent ? bytes + 1 : bytes; }
};

class Collector {
  public:
    constexpr Collector() = default;

    // Once. false: no addresses, no signal; nothing can be collected or allocated.
    bool start(int signal);
    // The same, where the only kind is an allocator that has started, and all that the process has written to is a root.
    bool start_over(Instance &adopted, const KindSetup &setup, int signal);
    bool is_started() const { return started_.load(std::memory_order_acquire); }

    // Under the lock.
    Kind *make_kind(const KindSetup &setup);
    Kind *kind(std::uint32_t number) const { return kinds_.kind(number); }
    // The program looks at the kind's dead blocks from now on.
    void tell_dead(std::uint32_t number) { kinds_.kind(number)->tells_dead = true; }
    const Kinds &kinds() const { return kinds_; }
    std::uint32_t kind_count() const { return kinds_.count(); }

    // Zeroed as the kind has it; nullptr: no memory, even after a collection. `beyond`: so many bytes at the end of the
    // size are there only for pointers that lead to the block, and hold nothing.
    void *allocate(Kind &kind, std::size_t size, std::size_t beyond = 0) {
        if (size - 1 < kClassLimit) [[likely]] {
            const ClassIndex c = class_of(size);
            if (void *const p = kind.instance.pop(c)) [[likely]]
                return kind.clears_new() ? std::memset(p, 0, size_of_class(c)) : p;
        }
        return allocate_slowly(kind, size, beyond);
    }
    void *allocate_aligned(Kind &kind, std::size_t size, std::size_t alignment, std::size_t beyond);
    // Freed and counted; false: it is not, and free() is to be asked. What is no block may be found later.
    bool free_quickly(void *p, std::uint64_t *counter) const {
        const Kind *const kind = kinds_.kind_of(p);
        return kind != nullptr && kind->may_be_freed_unseen() && kind->instance.push(p, counter);
    }
    // Dies of what is no block.
    static void free(Kind &kind, void *p) {
        kind.instance.free("GC_free", p);
        // Until then a register or the stack has it: a collection that stops this thread must not free it before.
        asm volatile("" : : "r"(p));
    }
    // Whatever the address points into.
    BlockAt block_at(const void *p) const;
    bool may_be_block(const void *p) const { return kinds_.field().may_point(reinterpret_cast<std::uintptr_t>(p)); }
    const Field &field() const { return kinds_.field(); }
    // Under the lock, between collections.
    void set_accepts(Field::Accepts accepts) {
        if (kinds_.field().accepts() != accepts) abandon_cycle();
        kinds_.field().set_accepts(accepts);
    }

    // By the last collection; in its course, by this one. The address of a block; what is none is not marked.
    bool is_marked(const void *p) const { return is_marked(block_at(p).mark); }
    bool is_marked(const Mark *mark) const {
        return mark != nullptr && mark->load(std::memory_order_relaxed) == number_;
    }
    void set_mark(const void *p, bool marked) {
        if (Mark *const mark = block_at(p).mark) set_mark(*mark, marked);
    }
    void set_mark(Mark &mark, bool marked) {
        mark.store(marked ? number_ : std::uint8_t{0}, std::memory_order_relaxed);
    }
    // visit(BlockAt, is_marked) for all blocks in use. While no other thread runs or allocates; in a kind that tells of
    // its dead none is only cached then.
    template <class Visit>
    void for_each_block(Kind &kind, Visit visit) const {
        const CollectorView &view = kind.instance.collector_view();
        const Superblocks &superblocks = kind.instance.superblocks();
        const auto visit_each_of = [&](const Superblock *s, std::uint32_t word, Word used) {
            const std::size_t size = Superblocks::block_size(s);
            Mark *const marks = kind.marks.covers(s->unit) ? kind.marks.row(s) : nullptr;
            for (Word left = used; left != 0; left &= left - 1) {
                const std::size_t i = word * kWordBits + static_cast<unsigned>(std::countr_zero(left));
                const BlockAt block{superblocks.begin(s) + i * size, size, Superblocks::block_extent(s), &kind,
                                    marks == nullptr ? nullptr : marks + i};
                visit(block, is_marked(block.mark));
            }
        };
        view.for_each_superblock([&](const Superblock *s) {
            for (std::uint32_t w = 0; w < s->shape().words; ++w) visit_each_of(s, w, superblocks.used_bits(s, w));
        });
        view.for_each_run([&](const Superblock *run) { visit_each_of(run, 0, 1); });
    }

    // Of all kinds, now; not done while it is disabled, inside the allocator, or from one of its own hooks.
    CollectionReport collect(Reason reason = Reason::asked) { return collect(hooks_.must_stop, reason); }
    // The same, of the thread whose stack is in use from the pointer on only: of calls below nothing is needed any more.
    CollectionReport collect_above(const char *stack_pointer);
    // If it is time, and no other thread is about it: who finds one collecting waits, for that one may lack the CPU that
    // this one has; but not for long, for it may be waiting for a lock of the loader's that this one holds.
    void collect_if_due();
    CollectionReport collect(bool (*must_stop)(), Reason reason = Reason::asked);
    // Under the lock. From now on a collection that is due is marked and swept beside the program, by a thread of the
    // collector's, with two short stops; one that is asked for stands as before. nullptr: done; else what is lacking.
    const char *begin_cycles();
    bool has_cycles() const { return cycle_.is_wanted.load(std::memory_order_relaxed); }
    // By anyone: one begins, if none is under way. Without cycles, nothing.
    void call_for_cycle();
    bool is_cycle_under_way() const { return cycle_.is_under_way.load(std::memory_order_relaxed); }
    // So long at most, until the one that is under way ends.
    void wait_for_cycle(unsigned milliseconds);
    // Under the lock: none is under way, marks are the caller's, and no thread that collects beside is between two steps
    // of one. What was marked is lost; before fork, and before the field changes.
    void abandon_cycle();

    const CollectionReport &last() const { return last_; }
    // In units that hold something, without the pages that are absent; and what links and finalizers take, so that a
    // program that registers many does not wait for its few blocks to become due.
    std::size_t present_bytes() const;
    bool is_due() const { return pace_.is_due(present_bytes()); }

    // The lock of all that is not a block. Its holder may take it again. The calling thread's only.
    void lock();
    bool try_lock();
    void unlock();
    bool is_locked_by_me() const { return mutex_.held_by_me(); }

    // Under the lock.
    Roots &roots() { return roots_; }
    Hooks &hooks() { return hooks_; }
    Pace &pace() { return pace_; }
    MarkProcedures &procedures() { return procedures_; }
    Finalization &finalization() { return finalization_; }
    Markers &markers() { return markers_; }

    // For hooks, while the world is stopped and what is reachable is being marked.
    void push_threads();
    void push(platform::Range range) { Marker::current()->scan(range); }
    // And once it is: the bits of blocks, of one word of a superblock's bitmap, that are. A run has the lowest.
    Word reached(const Kind &kind, const Superblock *s, std::uint32_t word) const {
        return kind.marks.live(s, word, number_);
    }

    // Around fork: before it lock() and abandon_cycle(), so that the world does not stand, and in the child
    // forget_other_threads() before unlock().
    void forget_other_threads();

  private:
    void publish_tables();
    void *allocate_slowly(Kind &kind, std::size_t size, std::size_t beyond);
    template <class Attempt>
    void *after_collecting(std::size_t bytes, Attempt attempt);
    bool may_collect() const;
    [[gnu::noinline]] CollectionReport collect_and_unlock(bool (*must_stop)(), Reason reason);
    CollectionReport collect_locked(bool (*must_stop)(), Reason reason);
    void tell(Step step) const {
        if (hooks_.step != nullptr) hooks_.step(step);
    }
    template <class Walk>
    void while_still(CollectionReport *report, Walk walk);
    void walk(CollectionReport *report);
    void empty_caches();
    void empty_caches(Kind &kind);
    void mark_cached(Kind &kind, std::uint8_t number);
    bool mark(CollectionReport *report);
    void prepare(std::uint8_t number);
    static void stamp_free(Kind &kind, Superblock *s, std::uint8_t number);
    bool mark_roots(Marker &marker);
    void look_through(Marker &marker, platform::Range range) const;
    void look_through(Marker &marker, const Superblocks &superblocks, const Superblock *s, platform::Range part) const;
    bool mark_all(Marker &marker, bool all_known, CollectionReport *report);
    void finalize(Marker &marker, CollectionReport *report);
    void sweep(CollectionReport *report);
    void free_unmarked(Kind &kind, CollectionReport *report);
    void sweep_runs(Kind &kind, CollectionReport *report, Found *found);
    static void count(const Kind &kind, const Superblock *s, CollectionReport *report, Found *found);
    void learn(Found found, CollectionReport *report);
    void end_collection(CollectionReport *report);
    void give_back_marks(const CollectionReport &report);
    void zero_dead(Kind &kind) const;
    void release_dead_runs();
    void settle(const CollectionReport &report);
    std::size_t settle(Kind &kind, std::size_t may_stay);
    std::uint8_t next_number();

    // Collections beside the program, in their order.
    void take_part_in_cycle();
    void keep_pace_with_cycle(std::size_t used);
    void ensure_cycle_thread();
    [[noreturn]] void run_cycles();
    void run_cycle();
    bool begin_cycle();
    bool is_forbidden() const { return hooks_.must_stop != nullptr && hooks_.must_stop(); }
    bool calls_program() const { return hooks_.calls_program != nullptr && hooks_.calls_program(); }
    bool meet_program();
    template <class Walk>
    bool while_still_beside(CollectionReport *report, Walk walk);
    void work_beside();
    bool come_back();
    bool watch_writes();
    void stamp_free();
    bool mark_beside();
    bool mark_from_roots(std::uint64_t *stopped);
    bool mark_again_until_few();
    bool look_again();
    bool mark_again(std::size_t *pages);
    bool mark_written(Marker &marker, platform::WriteWatch::Then then, std::size_t *pages);
    bool take_snapshot();
    bool correct_snapshot();
    template <class Visit>
    bool for_each_written_row(const Kind &kind, platform::WriteWatch::Then then, Visit visit);
    void walk_last(CollectionReport *report);
    void empty_caches_late();
    bool mark_last(CollectionReport *report);
    void sweep_at_once(CollectionReport *report);
    void sweep_beside();
    void leave_watch();
    void end_swept_cycle();
    void leave_cycle();
    bool is_beside() const;
    // From the stop: those that mark, and the one that collects beside.
    std::span<const std::uint32_t> exempt();

    void wait_for_collector();
    bool is_collecting() const { return collecting_.load(std::memory_order_relaxed) % 2 != 0; }

    // What is empty, of each kind, unless the environment says: the next collection is not far.
    static constexpr std::size_t kRetain = 4 * kMiB;
    // Milliseconds, for a collection or a stop: who holds the loader's lock must go on for it to come.
    static constexpr unsigned kMostWait = 10;

    struct DeadRun {
        Kind *kind;
        Superblock *run;
    };

    Kinds kinds_;
    Roots roots_;
    Hooks hooks_;
    Pace pace_;
    Cycle cycle_;
    MarkProcedures procedures_{};
    Markers markers_{kinds_.field(), procedures_};
    Finalization finalization_;
    platform::Mutex mutex_;
    unsigned depth_ = 0;  // how often its holder has taken it
    // Goes up by one where a collection begins and where it ends, under the lock. Relaxed, as the other: who waits looks at
    // nothing that is guarded.
    platform::FutexWord collecting_{0};
    std::atomic<std::uint32_t> awaited_in_vain_{0};  // the collection that somebody waited too long for
    bool looks_everywhere_ = false;
    bool retains_by_pace_ = false;  // what is empty, unless the environment says how much
    platform::MappedList<DeadRun> dead_runs_;
    std::size_t most_held_ = 0;  // bytes, by a collection since marks were given back
    std::array<std::uint32_t, kMostMarkers + 1> exempt_{};
    std::uint8_t number_ = 0;  // of the marks that count
    std::uint8_t cached_ = 0;  // of those of what was only cached
    const char *given_stack_pointer_ = nullptr;
    const char *stack_pointer_ =
        nullptr;  // of who wanted the collection: below lie frames of its own, and what was before
    CollectionReport last_;
    CollectionLog log_;
    std::atomic<bool> started_{false};  // release, with the acquire of is_started
};

// With the locks of all instances, and stopped as long as walk() takes.
template <class Walk>
void Collector::while_still(CollectionReport *report, Walk walk) {
    tell(Step::stopping);
    report->began = platform::nanoseconds();
    if (roots_.stop(exempt(), [] { instances.lock_all(); })) {
        report->stopping_nanoseconds = platform::nanoseconds() - report->began;
        report->threads = platform::world.stopped();
        tell(Step::stopped);
        walk();
        tell(Step::resuming);
        roots_.resume();
    }
    instances.unlock_all();
    report->stopped_nanoseconds = platform::nanoseconds() - report->began;
    tell(Step::resumed);
}

extern Collector collector;

}  // namespace gr

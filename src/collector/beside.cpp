// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: collector.hpp: a collection beside the program, by a thread of the collector's. One short stop for the roots,
//    then marking while the program runs and changes what was scanned; the kernel says which pages it wrote to, and
//    what is marked there is scanned again; a second short stop for the last of them; then the sweep.
// Invariant: at the second stop each marked block was scanned after it was last written to, or lies in a page that is
//    told as written. Before a round the pages that it is about are watched again: what the program stored before that
//    the round sees, what it stores later a later one.
// Must not know: which names programs call.
#include "collector/collector.hpp"
#include "collector/unstoppable_threads.hpp"
#include "platform/helper_thread.hpp"
#include "platform/reentry.hpp"

namespace gr {
namespace {

using platform::WriteWatch;

constexpr std::size_t kFewPages = 256;       // worth the last stop
constexpr std::uint64_t kSoon = 10'000'000;  // nanoseconds in which not much is made
constexpr unsigned kMostRounds = 8;          // before it, whatever the program writes
constexpr unsigned kMostWaitForCycle = 2;    // milliseconds, for each request that is not served from a magazine

thread_local constinit bool is_of_cycles = false;

}  // namespace

bool Collector::is_beside() const { return is_of_cycles; }

std::span<const std::uint32_t> Collector::exempt() {
    std::size_t count = 0;
    for (const std::uint32_t task : markers_.tasks()) exempt_[count++] = task;
    if (const std::uint32_t task = cycle_.task.load(std::memory_order_acquire); task != 0) exempt_[count++] = task;
    return {exempt_.data(), count};
}

const char *Collector::begin_cycles() {
    if (has_cycles()) return nullptr;
    // Only reserved addresses can be watched before they are used.
    if (!kinds_.is_reserved()) return "the limit on address space (RLIMIT_AS) is too low; remove it";
    const char *const lack = cycle_.watch.begin({kinds_.field().base(), kinds_.field().end()});
    if (lack == nullptr) cycle_.is_wanted.store(true, std::memory_order_relaxed);
    return lack;
}

// A thread of the program's that wants memory, or a collection.
void Collector::take_part_in_cycle() {
    const bool is_asked = cycle_.meeting.is_asked();
    if ((!is_asked && !cycle_.after_is_due.load(std::memory_order_relaxed)) || is_locked_by_me()) return;
    if (is_asked && !platform::Reentry::is_interrupted()) cycle_.meeting.attend(kMostWait);
    if (cycle_.after_is_due.exchange(false, std::memory_order_relaxed) && hooks_.after != nullptr) hooks_.after();
}

void Collector::keep_pace_with_cycle(std::size_t used) {
    if (!pace_.is_due_beside(used)) return;
    // What stands in its way may not stand in a stopped one's: a filter of system calls that came late.
    if (cycle_.has_failed.load(std::memory_order_relaxed) &&
        cycle_.has_failed.exchange(false, std::memory_order_relaxed)) {
        collect(Reason::due);
        return;
    }
    call_for_cycle();
    if (!pace_.is_late_beside(used)) return;
    markers_.hurry();
    if (!pace_.is_late_beside(used / 2)) return wait_for_cycle(kMostWaitForCycle);
    collect(Reason::due);
}

void Collector::call_for_cycle() {
    if (!has_cycles() || is_cycle_under_way()) return;
    if (!cycle_.has_thread.load(std::memory_order_relaxed)) {
        if (!try_lock()) return;
        ensure_cycle_thread();
        unlock();
    }
    cycle_.calls.fetch_add(1, std::memory_order_relaxed);
    platform::wake_all(cycle_.calls);
}

void Collector::wait_for_cycle(unsigned milliseconds) {
    take_part_in_cycle();
    const std::uint32_t ends = cycle_.ends.load(std::memory_order_relaxed);
    if (is_cycle_under_way()) static_cast<void>(platform::sleep_on_for(cycle_.ends, ends, milliseconds));
}

void Collector::ensure_cycle_thread() {
    if (cycle_.has_thread.load(std::memory_order_relaxed)) return;
    static constexpr platform::Helper kHelper{[] { collector.run_cycles(); }, "granary-collect"};
    if (platform::start_helper(kHelper) != 0) return;
    while (cycle_.task.load(std::memory_order_acquire) == 0) platform::sleep_on(cycle_.task, 0);
    cycle_.has_thread.store(true, std::memory_order_relaxed);
}

void Collector::abandon_cycle() {
    if (!is_cycle_under_way() || is_beside() || cycle_.abandoned.load(std::memory_order_relaxed)) return;
    cycle_.abandoned.store(true, std::memory_order_seq_cst);
    markers_.abandon();
    cycle_.meeting.let_go();
    while (cycle_.at_work.load(std::memory_order_acquire) != 0) platform::sleep_on(cycle_.at_work, 1);
    if (cycle_.is_swept) return end_swept_cycle();
    tell(Step::end);
}

void Collector::forget_other_threads() {
    markers_.forget_other_threads();
    cycle_.has_thread.store(false, std::memory_order_relaxed);
    cycle_.task.store(0, std::memory_order_relaxed);
    cycle_.is_under_way.store(false, std::memory_order_relaxed);
    cycle_.abandoned.store(false, std::memory_order_relaxed);
    cycle_.meeting.let_go();
    cycle_.watch.forget();
    if (cycle_.is_wanted.exchange(false, std::memory_order_relaxed)) static_cast<void>(begin_cycles());
}

void Collector::run_cycles() {
    is_of_cycles = true;
    cycle_.task.store(platform::task_of_caller(), std::memory_order_release);
    platform::wake_all(cycle_.task);
    for (;;) {
        const std::uint32_t calls = cycle_.calls.load(std::memory_order_relaxed);
        while (cycle_.calls.load(std::memory_order_relaxed) == calls) platform::sleep_on(cycle_.calls, calls);
        run_cycle();
    }
}

void Collector::run_cycle() {
    lock();
    if (begin_cycle()) {
        if (mark_beside()) {
            CollectionReport &report = cycle_.report;
            if (while_still_beside(&report, [&] { walk_last(&report); }) && report.done) sweep_beside();
        }
        leave_cycle();
    }
    unlock();
}

// All from here on with the lock, but what lies between work_beside() and come_back().
bool Collector::begin_cycle() {
    if (!may_collect() || is_collecting() || is_forbidden()) return false;
    collecting_.fetch_add(1, std::memory_order_relaxed);
    cycle_.is_under_way.store(true, std::memory_order_relaxed);
    cycle_.abandoned.store(false, std::memory_order_seq_cst);
    cycle_.is_swept = false;
    cycle_.report = {};
    cycle_.report.reason = Reason::due;
    cycle_.held_before = present_bytes();
    tell(Step::begin);
    markers_.ensure_helpers_for(last_.live_bytes);
    return true;
}

void Collector::leave_cycle() {
    markers_.forget_left();
    if (!cycle_.abandoned.load(std::memory_order_relaxed) && !cycle_.report.done) {
        tell(Step::end);
        cycle_.has_failed.store(!is_forbidden(), std::memory_order_relaxed);
    }
    cycle_.is_under_way.store(false, std::memory_order_relaxed);
    collecting_.fetch_add(1, std::memory_order_relaxed);
    cycle_.ends.fetch_add(1, std::memory_order_relaxed);
    platform::wake_all(cycle_.ends);
}

void Collector::work_beside() {
    cycle_.at_work.store(1, std::memory_order_relaxed);
    collecting_.fetch_add(1, std::memory_order_relaxed);
    unlock();
}

// false: somebody wanted the marks meanwhile.
bool Collector::come_back() {
    cycle_.at_work.store(0, std::memory_order_release);
    platform::wake_all(cycle_.at_work);
    lock();
    collecting_.fetch_add(1, std::memory_order_relaxed);
    return !cycle_.abandoned.load(std::memory_order_relaxed);
}

// What the program has half done no code of its own may find: where such code runs in a stop, one of the program's threads
// waits for that stop where it asks for memory, as it would for a collection of its own. false: somebody wanted the marks.
bool Collector::meet_program() {
    work_beside();
    cycle_.meeting.ask();
    if (cycle_.abandoned.load(std::memory_order_seq_cst)) cycle_.meeting.let_go();
    cycle_.meeting.wait();
    if (come_back()) return true;
    cycle_.meeting.let_go();
    return false;
}

// false: it was not walked. Who came to meet may have left before the stop.
template <class Walk>
bool Collector::while_still_beside(CollectionReport *report, Walk walk) {
    bool is_walked = false;
    bool is_missed = true;
    while (is_missed) {
        if (calls_program() && !meet_program()) return false;
        is_missed = false;
        while_still(report, [&] {
            // The program's procedures for dead objects and for events run after the stop, too. The thread that attends
            // stays for them.
            is_missed = calls_program() && !cycle_.meeting.hold();
            if (is_missed || is_forbidden()) return;
            walk();
            is_walked = true;
        });
        cycle_.meeting.let_go();
    }
    return is_walked;
}

bool Collector::mark_beside() {
    cached_ = next_number();
    next_number();
    const std::uint64_t began = platform::nanoseconds();
    work_beside();
    const bool is_watched = watch_writes();
    stamp_free();
    if (!come_back() || !is_watched) return false;
    // Again for what the program has made meanwhile, and has on its stacks only.
    bool marked = true;
    for (std::uint64_t &stopped : cycle_.report.root_stops_nanoseconds) {
        const std::uint64_t before = platform::nanoseconds();
        marked = mark_from_roots(&stopped);
        if (!marked || platform::nanoseconds() - before < kSoon) break;
    }
    // What a program that asks for nothing writes for long would be left for the last stop.
    if (marked && calls_program()) {
        marked = meet_program();
        cycle_.meeting.let_go();
    }
    marked = marked && look_again();
    cycle_.report.beside_nanoseconds = platform::nanoseconds() - began;
    return marked;
}

// Where a kind's units end is asked before: what lies beyond was not watched, so it is told as written.
bool Collector::watch_writes() {
    bool done = true;
    kinds_.for_each([&](const Kind &kind) {
        if (kind.has_pointers())
            done =
                cycle_.watch.for_each_written(kind.units(), WriteWatch::Then::watch_on, [](platform::Range) {}) && done;
    });
    return done && kinds_.cover_marks();
}

// As prepare(), but free blocks only; one that is taken meanwhile counts as marked, and what is written there is told of.
void Collector::stamp_free() {
    kinds_.for_each([&](Kind &kind) {
        const Region &region = kind.instance.region();
        if (!kind.has_pointers()) return;
        kind.instance.collector_view().for_each_superblock_now(region.first_unit(), region.unit_end(),
                                                               [&](Superblock *s) {
                                                                   if (kind.marks.covers(s->unit))
                                                                       stamp_free(kind, s, number_);
                                                               });
    });
}

// A stop for the roots, and all that they reach.
bool Collector::mark_from_roots(std::uint64_t *stopped) {
    bool marked = false;
    {
        Marker marker(markers_.setup(number_, Phase::beside));
        const Marker::Current current(marker);
        CollectionReport stop;
        const bool has_begun = while_still_beside(&stop, [&] {
            markers_.begin(number_, Phase::beside);
            marked = mark_roots(marker);
        });
        *stopped = stop.stopped_nanoseconds;
        if (!has_begun) return false;
        work_beside();
        marked = markers_.finish(marker) && marked;
    }
    marked = marked && mark_again_until_few();
    return come_back() && marked;
}

// The last before the last stop, which has less to do then.
bool Collector::look_again() {
    work_beside();
    const bool marked = take_snapshot() && mark_again_until_few();
    return come_back() && marked;
}

bool Collector::mark_again_until_few() {
    std::size_t pages = SIZE_MAX;
    for (unsigned round = 0; pages > kFewPages && round < kMostRounds; ++round) {
        if (!mark_again(&pages)) return false;
    }
    return true;
}

bool Collector::mark_again(std::size_t *pages) {
    Marker marker(markers_.setup(number_, Phase::beside));
    const Marker::Current current(marker);
    markers_.begin(number_, Phase::beside);
    if (cycle_.abandoned.load(std::memory_order_seq_cst)) markers_.abandon();
    const bool is_known = mark_written(marker, WriteWatch::Then::watch_on, pages);
    return markers_.finish(marker) && is_known;
}

// Of what these pages point to nothing is scanned before all of them have been visited, and watched again.
bool Collector::mark_written(Marker &marker, WriteWatch::Then then, std::size_t *pages) {
    bool is_known = true;
    std::size_t bytes = 0;
    kinds_.for_each([&](const Kind &kind) {
        if (!kind.has_pointers()) return;
        const bool told = cycle_.watch.for_each_written(kind.units(), then, [&](platform::Range written) {
            is_known = kinds_.cover_marks() && is_known;
            marker.scan_marked(kind.number, written);
            bytes += written.bytes();
        });
        is_known = told && is_known;
    });
    *pages = bytes / platform::page_size();
    return is_known;
}

// While the world stands for the second time.
void Collector::walk_last(CollectionReport *report) {
    const UnstoppableThreadsKeptOut kept_out(kinds_);
    if (!kept_out.done() || !kinds_.cover_marks()) return;
    const std::uint64_t began = platform::nanoseconds();
    tell(Step::marking);
    empty_caches_late();
    report->done = mark_last(report);
    tell(Step::marked);
    const std::uint64_t marked = platform::nanoseconds();
    report->marking_nanoseconds = marked - began;
    if (!report->done) return;
    tell(Step::sweeping);
    sweep_at_once(report);
    tell(Step::swept);
    report->sweeping_nanoseconds = platform::nanoseconds() - marked;
    pace_.learn_growth(report->held_before > cycle_.held_before ? report->held_before - cycle_.held_before : 0);
}

// What is only cached was free at the beginning, or has been freed since: a mark that it bears says nothing.
void Collector::empty_caches_late() {
    kinds_.for_each([&](Kind &kind) {
        if (!kind.may_be_swept_late()) return empty_caches(kind);
        mark_cached(kind, 0);
        kind.instance.collector_view().drop_held();
    });
}

bool Collector::mark_last(CollectionReport *report) {
    kinds_.for_each([&](Kind &kind) {
        if (kind.may_be_swept_late()) return;
        kind.instance.collector_view().for_each_superblock([&](Superblock *s) { stamp_free(kind, s, number_); });
    });
    Marker marker(markers_.setup(number_, Phase::last));
    const Marker::Current current(marker);
    std::size_t pages = 0;
    markers_.begin(number_, Phase::last);
    const bool is_known = mark_written(marker, WriteWatch::Then::leave, &pages) && mark_roots(marker);
    marker.scan_left();
    return mark_all(marker, is_known, report) && correct_snapshot();
}

}  // namespace gr

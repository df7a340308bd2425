// SPDX-License-Identifier: Apache-2.0 OR MIT
// Before each round of marking, the pages of that round are watched again.
#include "collector/incremental_collection.hpp"

#include "platform/reentry.hpp"

namespace gr {
namespace {

constexpr std::size_t kFewPages = 256;       // worth the last stop
constexpr std::uint64_t kSoon = 10'000'000;  // nanoseconds in which the program makes little
constexpr unsigned kMostRounds = 8;          // before the last stop, whatever the program writes
constexpr unsigned kMostWait = 2;            // milliseconds, for each request that no magazine serves
constexpr unsigned kMostAttendance = 10;  // milliseconds: a thread that holds the loader's lock must go on for the stop

thread_local constinit bool is_collecting_thread = false;

}  // namespace

const char *IncrementalCollection::enable() {
    if (is_enabled()) return nullptr;
    // Only reserved addresses can be watched before they are used.
    if (!parts_.kinds.is_reserved()) return "the limit on address space (RLIMIT_AS) is too low; remove it";
    const char *const lack = parts_.dirty_pages.begin();
    if (lack == nullptr) is_enabled_.store(true, std::memory_order_relaxed);
    return lack;
}

void IncrementalCollection::take_part() {
    const bool is_asked = rendezvous_.is_asked();
    if ((!is_asked && !after_is_due_.load(std::memory_order_relaxed)) || parts_.lock.is_mine()) return;
    if (is_asked && !platform::Reentry::is_interrupted()) rendezvous_.attend(kMostAttendance);
    if (after_is_due_.exchange(false, std::memory_order_relaxed) && parts_.hooks.after != nullptr) parts_.hooks.after();
}

bool IncrementalCollection::keep_pace(std::size_t used) {
    const Pace &pace = parts_.pace;
    if (!pace.is_due_beside(used)) return false;
    if (!pace.is_reconsidered() && parts_.lock.try_lock()) {
        parts_.pacer.reconsider(used);
        parts_.lock.unlock();
        if (!pace.is_due_beside(used)) return false;
    }
    // What made an incremental collection fail may not hinder a stopped one: a filter of system calls that came late.
    if (has_failed_.load(std::memory_order_relaxed) && has_failed_.exchange(false, std::memory_order_relaxed))
        return true;
    call();
    if (!pace.is_late_beside(used)) return false;
    parts_.markers.hurry();
    if (pace.is_late_beside(used / 2)) return true;
    wait(kMostWait);
    return false;
}

void IncrementalCollection::call() {
    if (!is_enabled() || is_under_way()) return;
    if (!has_thread_.load(std::memory_order_relaxed)) {
        if (!parts_.lock.try_lock()) return;
        ensure_thread();
        parts_.lock.unlock();
    }
    calls_.fetch_add(1, std::memory_order_relaxed);
    platform::wake_all(calls_);
}

void IncrementalCollection::wait(unsigned milliseconds) {
    take_part();
    const std::uint32_t ends = ends_.load(std::memory_order_relaxed);
    if (is_under_way()) static_cast<void>(platform::sleep_on_for(ends_, ends, milliseconds));
}

void IncrementalCollection::ensure_thread() {
    if (has_thread_.load(std::memory_order_relaxed)) return;
    if (platform::start_helper(thread_) != 0) return;
    while (task_.load(std::memory_order_acquire) == 0) platform::sleep_on(task_, 0);
    parts_.stopper.set_collecting_task(task_.load(std::memory_order_relaxed));
    has_thread_.store(true, std::memory_order_relaxed);
}

void IncrementalCollection::abandon() {
    if (!is_under_way() || is_collecting_thread || abandoned_.load(std::memory_order_relaxed)) return;
    abandoned_.store(true, std::memory_order_seq_cst);
    parts_.markers.abandon();
    rendezvous_.let_go();
    while (at_work_.load(std::memory_order_acquire) != 0) platform::sleep_on(at_work_, 1);
    if (is_swept_) return end_swept();
    if (is_begun_) parts_.hooks.tell(Step::end);
}

void IncrementalCollection::forget_other_threads() {
    has_thread_.store(false, std::memory_order_relaxed);
    task_.store(0, std::memory_order_relaxed);
    parts_.stopper.set_collecting_task(0);
    is_under_way_.store(false, std::memory_order_relaxed);
    abandoned_.store(false, std::memory_order_relaxed);
    rendezvous_.let_go();
    if (is_enabled_.exchange(false, std::memory_order_relaxed)) static_cast<void>(enable());
}

void IncrementalCollection::run_for_ever() {
    is_collecting_thread = true;
    task_.store(platform::task_of_caller(), std::memory_order_release);
    platform::wake_all(task_);
    for (;;) {
        const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
        while (calls_.load(std::memory_order_relaxed) == calls) platform::sleep_on(calls_, calls);
        run();
    }
}

void IncrementalCollection::run() {
    parts_.lock.lock();
    if (may_collect(parts_.pace) && !parts_.lock.is_collecting()) {
        if (begin() && mark()) {
            const bool is_walked = while_stopped(&report_, [&] { stop_for_the_last_time(&report_); });
            if (is_walked && report_.done) sweep();
        }
        leave();
    }
    parts_.lock.unlock();
    parts_.lock.wake_waiting();
}

// From here on the lock is held, except between let_program_run() and come_back(). false: the program forbids the
// collection, or has abandoned it.
bool IncrementalCollection::begin() {
    parts_.lock.begin_collecting();
    is_under_way_.store(true, std::memory_order_relaxed);
    abandoned_.store(false, std::memory_order_seq_cst);
    is_begun_ = is_swept_ = false;
    report_ = {};
    report_.reason = Reason::due;
    while_attended([&] {
        if (parts_.hooks.is_forbidden()) return;
        is_begun_ = true;
        parts_.hooks.tell(Step::begin);
    });
    if (!is_begun_) return false;
    present_before_ = parts_.kinds.present_bytes();
    parts_.pacer.begin_marking();
    parts_.markers.ensure_helpers_for(parts_.history.last().live_bytes);
    return true;
}

void IncrementalCollection::leave() {
    parts_.markers.forget_left();
    if (is_begun_ && !abandoned_.load(std::memory_order_relaxed) && !report_.done) {
        while_attended([&] {
            parts_.hooks.tell(Step::end);
            has_failed_.store(!parts_.hooks.is_forbidden(), std::memory_order_relaxed);
        });
    }
    is_under_way_.store(false, std::memory_order_relaxed);
    parts_.lock.end_collecting();
    ends_.fetch_add(1, std::memory_order_relaxed);
    platform::wake_all(ends_);
}

void IncrementalCollection::let_program_run() {
    at_work_.store(1, std::memory_order_relaxed);
    parts_.lock.end_collecting();
    parts_.lock.unlock();
    parts_.lock.wake_waiting();
}

// false: the holder of the lock has abandoned the collection meanwhile.
bool IncrementalCollection::come_back() {
    at_work_.store(0, std::memory_order_release);
    platform::wake_all(at_work_);
    parts_.lock.lock();
    parts_.lock.begin_collecting();
    return !abandoned_.load(std::memory_order_relaxed);
}

// Code of the program must not find an operation of the program half done. So while such code runs, a thread of the
// program waits where it asks for memory, as it would for a collection of its own. false: the collection was abandoned.
bool IncrementalCollection::meet_program() {
    let_program_run();
    rendezvous_.ask();
    if (abandoned_.load(std::memory_order_seq_cst)) rendezvous_.let_go();
    rendezvous_.wait();
    if (come_back()) return true;
    rendezvous_.let_go();
    return false;
}

// For hooks outside a stop. call() is not called if the collection is abandoned meanwhile.
template <class Call>
void IncrementalCollection::while_attended(Call call) {
    if (parts_.hooks.runs_program()) {
        do {
            if (!meet_program()) return;
        } while (!rendezvous_.hold());
    }
    call();
    rendezvous_.let_go();
}

// false: walk() was not called. The thread that attends may have left before the stop.
template <class Walk>
bool IncrementalCollection::while_stopped(CollectionReport *report, Walk walk) {
    bool is_walked = false;
    bool is_missed = true;
    while (is_missed) {
        if (parts_.hooks.runs_program() && !meet_program()) return false;
        is_missed = false;
        parts_.stopper.while_stopped(report, [&] {
            // The program's procedures for dead objects and for events run after the stop, too. The thread that attends
            // stays for them.
            is_missed = parts_.hooks.runs_program() && !rendezvous_.hold();
            if (is_missed || parts_.hooks.is_forbidden()) return;
            parts_.roots.set_caller(nullptr);
            walk();
            is_walked = true;
        });
        rendezvous_.let_go();
    }
    return is_walked;
}

bool IncrementalCollection::mark() {
    parts_.generations.forget();
    parts_.cached_blocks.choose_number();
    parts_.numbers.next();
    const std::uint64_t began = platform::nanoseconds();
    let_program_run();
    const bool is_watched = parts_.dirty_pages.watch();
    parts_.mark_phase.stamp_free_now();
    if (!come_back() || !is_watched) return false;
    // Repeated for what the program has made meanwhile, to which only its stacks refer.
    bool marked = true;
    for (std::uint64_t &stopped : report_.root_stops_nanoseconds) {
        const std::uint64_t before = platform::nanoseconds();
        marked = mark_from_roots(&stopped);
        if (!marked || platform::nanoseconds() - before < kSoon) break;
    }
    // What a program that asks for nothing writes for long would be left for the last stop.
    if (marked && parts_.hooks.runs_program()) {
        marked = meet_program();
        rendezvous_.let_go();
    }
    marked = marked && look_again();
    report_.beside_nanoseconds = platform::nanoseconds() - began;
    return marked;
}

// A stop for the roots, and all that they reach.
bool IncrementalCollection::mark_from_roots(std::uint64_t *stopped) {
    const std::uint8_t number = parts_.numbers.current();
    bool marked = false;
    {
        Marker marker(parts_.markers.setup(number, MarkMode::incremental));
        const Marker::Current current(marker);
        CollectionReport stop;
        const bool has_begun = while_stopped(&stop, [&] {
            parts_.markers.begin(number, MarkMode::incremental);
            marked = parts_.roots.scan(marker);
        });
        *stopped = stop.stopped_nanoseconds;
        if (!has_begun) return false;
        let_program_run();
        marked = parts_.markers.finish(marker) && marked;
    }
    marked = marked && mark_again_until_few();
    return come_back() && marked;
}

// The last round before the last stop, which has less to do then.
bool IncrementalCollection::look_again() {
    let_program_run();
    const bool marked = sweep_.take_snapshot() && mark_again_until_few();
    return come_back() && marked;
}

bool IncrementalCollection::mark_again_until_few() {
    std::size_t pages = SIZE_MAX;
    for (unsigned round = 0; pages > kFewPages && round < kMostRounds; ++round) {
        if (!mark_again(&pages)) return false;
    }
    return true;
}

bool IncrementalCollection::mark_again(std::size_t *pages) {
    const std::uint8_t number = parts_.numbers.current();
    Marker marker(parts_.markers.setup(number, MarkMode::incremental));
    const Marker::Current current(marker);
    parts_.markers.begin(number, MarkMode::incremental);
    if (abandoned_.load(std::memory_order_seq_cst)) parts_.markers.abandon();
    const bool is_known = parts_.dirty_pages.mark_from(marker, DirtyPages::Then::watch_on, pages);
    return parts_.markers.finish(marker) && is_known;
}

void IncrementalCollection::stop_for_the_last_time(CollectionReport *report) {
    parts_.stopper.mark_and_sweep(
        report, [&] { return mark_last(report); }, [&] { sweep_last(report); });
}

bool IncrementalCollection::mark_last(CollectionReport *report) {
    empty_caches();
    parts_.kinds.for_each([&](Kind &kind) {
        if (kind.may_be_swept_late()) return;
        kind.instance.collector_view().for_each_superblock(
            [&](Superblock *s) { parts_.mark_phase.stamp_free(kind, s); });
    });
    const auto scan = [&](Marker &marker) {
        std::size_t pages = 0;
        const auto then = parts_.generations.wants_watch() ? DirtyPages::Then::watch_on : DirtyPages::Then::leave;
        const bool is_known = parts_.dirty_pages.mark_from(marker, then, &pages) && parts_.roots.scan(marker);
        marker.scan_left();
        return is_known;
    };
    return parts_.mark_phase.mark_all(MarkMode::last_stop, report, scan) && sweep_.correct_snapshot();
}

void IncrementalCollection::empty_caches() {
    parts_.kinds.for_each([&](Kind &kind) {
        if (!kind.may_be_swept_late()) return parts_.cached_blocks.empty(kind);
        parts_.cached_blocks.empty_unmarked(kind);
    });
}

void IncrementalCollection::sweep_last(CollectionReport *report) {
    parts_.pacer.end_marking();
    sweep_.sweep_in_stop(report);
    const std::size_t before = present_before_;
    parts_.pace.learn_growth_beside(report->held_before > before ? report->held_before - before : 0);
}

void IncrementalCollection::sweep() {
    let_program_run();
    if (!parts_.generations.wants_watch()) parts_.dirty_pages.leave();
    sweep_.sweep_now(&report_);
    is_swept_ = true;
    static_cast<void>(come_back());
    if (is_swept_) while_attended([&] { end_swept(); });
}

void IncrementalCollection::end_swept() {
    is_swept_ = false;
    sweep_.learn(&report_);
    parts_.generations.begin_after_sweep(report_, parts_.pace);
    parts_.memory_return.settle(report_);
    parts_.history.add(&report_);
    parts_.hooks.tell_of_unseen(platform::world.unseen());
    after_is_due_.store(true, std::memory_order_relaxed);
    parts_.hooks.tell(Step::end);
}

}  // namespace gr

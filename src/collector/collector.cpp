// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: collector.hpp.
// Invariant: as there.
// Must not know: which names programs call.
#include "collector/collector.hpp"

#include <signal.h>

#include "heap/inside.hpp"
#include "malloc/instances.hpp"
#include "platform/process.hpp"

namespace gr {

constinit Collector collector;

namespace {

constexpr int kSignal = SIGPWR;  // as bdwgc's, which programs expect
constexpr std::size_t kLeastGrowth = 8 * kMiB;

}  // namespace

bool Collector::start() {
    if (!kinds_.start() || !platform::world.initialise(kSignal)) return false;
    roots_.initialise();
    due_at_.store(kLeastGrowth, std::memory_order_relaxed);
    started_.store(true, std::memory_order_release);
    return true;
}

// Whenever the numbers begin anew every mark is cleared, so that no old one counts.
std::uint8_t Collector::next_mark() {
    if (mark_ == UINT8_MAX) {
        kinds_.for_each([](Kind &kind) { kind.marks.clear(); });
        mark_ = 0;
    }
    return ++mark_;
}

CollectionReport Collector::collect() {
    CollectionReport report;
    const platform::Guard guard(mutex_, platform::Rank::collector);
    if (!guard.locked() || Inside::is_interrupted()) return report;
    const std::uint64_t began = platform::nanoseconds();
    instances.lock_all();
    bool complete = kinds_.cover_marks();
    if (complete && roots_.stop({})) {
        mark(&report, &complete);
        if (complete) sweep(&report);
        roots_.resume();
        report.done = complete;
    }
    instances.unlock_all();
    report.stopped_nanoseconds = platform::nanoseconds() - began;
    if (report.done) {
        release_dead_runs();
        kinds_.for_each([](Kind &kind) { kind.instance.restore_invariants(); });
        report.number = last_.number + 1;
        last_ = report;
    }
    worklist_.shrink(1);
    due_at_.store(used_bytes() + (kLeastGrowth > used_bytes() ? kLeastGrowth : used_bytes()),
                  std::memory_order_relaxed);
    return report;
}

void Collector::mark(CollectionReport *report, bool *complete) {
    worklist_.reset();
    Marker marker(kinds_.field(), worklist_, next_mark());
    roots_.for_each([&](platform::Range range) { marker.scan(range); });
    kinds_.for_each([&](Kind &kind) {
        if (kind.lifetime == Lifetime::until_freed && kind.contents == Contents::pointers)
            kind.instance.for_each_used_block([&](platform::Range block) { marker.scan(block); });
    });
    marker.drain();
    report->live_blocks = marker.marked_blocks();
    report->live_bytes = marker.marked_bytes();
    *complete = !marker.failed();
}

void Collector::sweep(CollectionReport *report) {
    kinds_.for_each([&](Kind &kind) {
        if (kind.lifetime != Lifetime::collected) return;
        Keeper keeper = kind.instance.keeper();
        keeper.drop_cached();
        report->freed_blocks += keeper.keep_only(
            [&](const Superblock *s, std::uint32_t word) { return kind.marks.live(s, word, mark_); });
        keeper.for_each_run([&](Superblock *run) {
            const bool live = kind.marks.row(run->unit, false)->load(std::memory_order_relaxed) == mark_;
            // What does not fit on the list is found by the next collection.
            if (!live && dead_runs_.add({&kind, run})) ++report->freed_blocks;
        });
    });
}

void Collector::release_dead_runs() {
    while (!dead_runs_.is_empty()) {
        const auto [kind, run] = dead_runs_.take_last();
        kind->instance.release_run(run);
    }
}

bool Collector::is_due() const { return used_bytes() >= due_at_.load(std::memory_order_relaxed); }

std::size_t Collector::used_bytes() const {
    std::size_t bytes = 0;
    kinds_.for_each([&](const Kind &kind) { bytes += kind.instance.pages().used_bytes(); });
    return bytes;
}

}  // namespace gr

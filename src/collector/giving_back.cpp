// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a collection gives back: dead runs, empty superblocks, pages of those that rest, marks of what is gone.
// Invariant: no lock is held but the collector's, for all but the marks; what the program will take before the next
//    collection stays, in all kinds together.
// Must not know: how it was marked.
#include "collector/collector.hpp"

namespace gr {
namespace {

constexpr std::size_t kWorthGivingBack = 64 * kMiB;  // held, if half of it is enough

}  // namespace

// Marks take memory as the heap did at its peak. What the next collection needs again stays.
void Collector::give_back_marks(const CollectionReport &report) {
    if (report.held_before > most_held_) most_held_ = report.held_before;
    if (most_held_ < kWorthGivingBack || report.held > most_held_ / 2) return;
    most_held_ = report.held;
    kinds_.for_each([](Kind &kind) {
        kind.instance.collector_view().for_each_empty_range(
            [&](UnitIndex first, UnitIndex end) { kind.marks.give_back(first, end); });
    });
}

// With no lock held but the collector's. What the program will take before the next collection stays, in all kinds
// together, unless it asked for this one: then it wants memory back.
void Collector::settle(const CollectionReport &report) {
    const bool is_due = report.reason == Reason::due;
    std::size_t may_stay = is_due ? pace_.room() : 0;
    release_dead_runs();
    kinds_.for_each([&](Kind &kind) {
        const std::size_t stays = settle(kind, may_stay, is_due);
        may_stay -= stays < may_stay ? stays : may_stay;
    });
    // What is left there has addresses in it, which would be roots.
    markers_.shrink(looks_everywhere_ ? 0 : 1);
}

// Returns what stays.
std::size_t Collector::settle(Kind &kind, std::size_t may_stay, bool is_due) {
    if (retains_by_pace_) kind.instance.set_least_retained(may_stay > kRetain ? may_stay : kRetain);
    kind.instance.settle_collected();
    is_due ? kind.instance.retain_what_may_stay() : kind.instance.retain_what_is_reused();
    return kind.instance.pages().retained_bytes();
}

void Collector::release_dead_runs() {
    while (!dead_runs_.is_empty()) {
        const DeadRun dead = dead_runs_.take_last();
        dead.kind->instance.release_run(dead.run);
    }
}

}  // namespace gr

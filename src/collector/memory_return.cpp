// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/memory_return.hpp"

namespace gr {
namespace {

constexpr std::size_t kWorthReturning = 64 * kMiB;  // held, if half of it is enough
constexpr std::size_t kSlackParts = 8;

bool is_due(const CollectionReport &report) { return report.reason == Reason::due || report.reason == Reason::young; }

// What the collection left empty may be a little more than what the program will take, because the heap grew beyond the
// point where the collection was due. An instance that holds too much returns much more than the excess.
std::size_t with_slack(std::size_t bytes) { return bytes + bytes / kSlackParts; }

}  // namespace

void MemoryReturn::return_marks(const CollectionReport &report) {
    if (report.held_before > most_held_) most_held_ = report.held_before;
    const std::size_t needed = is_due(report) ? pace_.due_at() : report.held;
    if (most_held_ < kWorthReturning || needed > most_held_ / 2) return;
    most_held_ = needed;
    kinds_.for_each([](Kind &kind) {
        kind.instance.collector_view().for_each_empty_range(
            [&](UnitIndex first, UnitIndex end) { kind.marks.give_back(first, end); });
    });
}

void MemoryReturn::settle(const CollectionReport &report) {
    const bool stays = is_due(report);
    std::size_t may_stay = stays ? with_slack(pace_.room()) : 0;
    kinds_.for_each([&](Kind &kind) { permit(kind, may_stay); });
    swept_.release_dead_runs();
    kinds_.for_each([&](Kind &kind) { may_stay -= settle(kind, may_stay, stays); });
    // The segments that are left hold addresses, which would be roots where roots are everywhere.
    markers_.shrink(roots_.are_everywhere() ? 0 : 1);
}

void MemoryReturn::permit(Kind &kind, std::size_t may_stay) const {
    if (retains_by_pace_) kind.instance.set_least_retained(may_stay > kRetain ? may_stay : kRetain);
}

// Returns how much of `may_stay` stays in this kind.
std::size_t MemoryReturn::settle(Kind &kind, std::size_t may_stay, bool is_due) const {
    permit(kind, may_stay);
    kind.instance.settle_collected();
    is_due ? kind.instance.retain_what_may_stay() : kind.instance.retain_what_is_reused();
    const std::size_t stays = kind.instance.pages().retained_bytes();
    return stays < may_stay ? stays : may_stay;
}

}  // namespace gr

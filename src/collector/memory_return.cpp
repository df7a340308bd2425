// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/memory_return.hpp"

namespace gr {
namespace {

constexpr std::size_t kWorthReturning = 64 * kMiB;  // held, if half of it is enough

}  // namespace

void MemoryReturn::return_marks(const CollectionReport &report) {
    if (report.held_before > most_held_) most_held_ = report.held_before;
    if (most_held_ < kWorthReturning || report.held > most_held_ / 2) return;
    most_held_ = report.held;
    kinds_.for_each([](Kind &kind) {
        kind.instance.collector_view().for_each_empty_range(
            [&](UnitIndex first, UnitIndex end) { kind.marks.give_back(first, end); });
    });
}

void MemoryReturn::settle(const CollectionReport &report) {
    const bool is_due = report.reason == Reason::due || report.reason == Reason::young;
    std::size_t may_stay = is_due ? pace_.room() : 0;
    swept_.release_dead_runs();
    kinds_.for_each([&](Kind &kind) { may_stay -= settle(kind, may_stay, is_due); });
    // The segments that are left hold addresses, which would be roots where roots are everywhere.
    markers_.shrink(roots_.are_everywhere() ? 0 : 1);
}

// Returns how much of `may_stay` stays in this kind.
std::size_t MemoryReturn::settle(Kind &kind, std::size_t may_stay, bool is_due) const {
    if (retains_by_pace_) kind.instance.set_least_retained(may_stay > kRetain ? may_stay : kRetain);
    kind.instance.settle_collected();
    is_due ? kind.instance.retain_what_may_stay() : kind.instance.retain_what_is_reused();
    const std::size_t stays = kind.instance.pages().retained_bytes();
    return stays < may_stay ? stays : may_stay;
}

}  // namespace gr

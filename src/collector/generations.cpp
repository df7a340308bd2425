// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/generations.hpp"

#include <algorithm>

namespace gr {

const char *Generations::enable() {
    if (is_enabled()) return nullptr;
    const char *const lack = dirty_pages_.begin();
    if (lack == nullptr) is_enabled_.store(true, std::memory_order_relaxed);
    return lack;
}

void Generations::begin(const CollectionReport &report, const Pace &pace) {
    if (!is_enabled()) return;
    kinds_.for_each([this](const Kind &kind) { unmark_free(kind); });
    is_known_ = !wants_watch() || dirty_pages_.watch_used();
    begin_cycle(report, pace);
}

void Generations::begin_after_sweep(const CollectionReport &report, const Pace &pace) {
    if (!is_enabled()) return;
    is_known_ = true;
    begin_cycle(report, pace);
}

void Generations::begin_cycle(const CollectionReport &report, const Pace &pace) {
    if (rests_ == 0 && is_known_) return set_due(report, pace);
    if (rests_ != 0) --rests_;
    due_at_.store(SIZE_MAX, std::memory_order_relaxed);
}

void Generations::renew(const CollectionReport &report, const Pace &pace) {
    const bool most_stay = report.live_bytes > live_ + young_ / kStaysParts * kStaysMost;
    last_rests_ = 0;
    is_known_ = dirty_pages_.watch_taken();
    set_due(report, pace);
    if (most_stay || !is_known_) due_at_.store(SIZE_MAX, std::memory_order_relaxed);
}

void Generations::give_up() {
    forget();
    dirty_pages_.leave();
    last_rests_ = std::min(last_rests_ * 2 + 1, kMostRests);
    rests_ = last_rests_;
}

void Generations::forget() {
    is_known_ = false;
    due_at_.store(SIZE_MAX, std::memory_order_relaxed);
}

void Generations::forget_watch() {
    forget();
    if (is_enabled_.exchange(false, std::memory_order_relaxed)) static_cast<void>(enable());
}

void Generations::set_due(const CollectionReport &report, const Pace &pace) {
    live_ = report.live_bytes;
    young_ = std::max(kLeastYoung, pace.room() / kYoungParts);
    most_rescanned_ = std::max(kLeastYoung, live_ / std::max<std::size_t>(pace.room() / young_, 1)) / kRescanCost;
    due_at_.store(std::max(report.live_bytes + young_, report.held + young_ / kGrowthParts), std::memory_order_relaxed);
}

void Generations::unmark_free(const Kind &kind) const {
    kind.instance.collector_view().for_each_superblock([&](Superblock *s) { unmark_free(kind, s); });
}

void Generations::unmark_free(const Kind &kind, Superblock *s) const {
    if (!is_enabled() || !kind.marks.covers(s->unit)) return;
    kind.instance.collector_view().for_each_free_word(
        s, [&](std::uint32_t word, Word bits) { kind.marks.stamp(s, word, bits, 0); });
}

}  // namespace gr

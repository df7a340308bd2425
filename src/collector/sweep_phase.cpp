// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/sweep_phase.hpp"

#include <cstring>

namespace gr {

Found SweepPhase::sweep(CollectionReport *report, Superblocks which) {
    Found found;
    report->held_before = kinds_.present_bytes();
    kinds_.for_each([&](Kind &kind) {
        sweep_superblocks(kind, report, which);
        sweep_runs(kind, report, &found);
        count(kind, report, &found);
    });
    return found;
}

void SweepPhase::sweep_superblocks(Kind &kind, CollectionReport *report, Superblocks which) const {
    if (kind.setup.lifetime != Lifetime::collected) return;
    if (kind.setup.asks_blocks()) zero_dead(kind);
    CollectorView &view = kind.instance.collector_view();
    const auto live = [&](const Superblock *s, std::uint32_t word) {
        return kind.marks.live(s, word, numbers_.current());
    };
    report->freed_blocks += which == Superblocks::all ? view.sweep(live) : view.sweep_taken(live);
}

void SweepPhase::sweep_runs(Kind &kind, CollectionReport *report, Found *found) {
    const bool is_collected = kind.setup.lifetime == Lifetime::collected;
    const Region &region = kind.instance.region();
    kind.instance.collector_view().for_each_run([&](Superblock *run) {
        // A run without an entry is being acquired or released by a thread that was stopped.
        const bool stays = !is_collected || load_entry(region, run->unit) != kRunEntry ||
                           kind.marks.row(run->unit, false)->load(std::memory_order_relaxed) == numbers_.current();
        if (stays) {
            const std::size_t bytes = Superblocks::block_size(run);
            found->add_live(kind.has_pointers(), bytes);
            report->add_live(kind.number, 1, bytes);
            found->held += bytes;
        } else if (dead_runs_.add({&kind, run})) {  // the next collection finds a run that does not fit on the list
            ++report->freed_blocks;
        }
    });
}

void SweepPhase::count(const Kind &kind, CollectionReport *report, Found *found) {
    kind.instance.collector_view().for_each_superblock([&](const Superblock *s) { count(kind, s, report, found); });
}

void SweepPhase::count(const Kind &kind, const Superblock *s, CollectionReport *report, Found *found) {
    const std::size_t bytes = std::size_t{s->used_count()} * s->shape().size;
    found->add_live(kind.has_pointers(), bytes);
    report->add_live(kind.number, s->used_count(), bytes);
    if (s->used_count() != 0) found->held += s->bytes() - s->absent.count() * platform::page_size();
}

void SweepPhase::learn(Found found, CollectionReport *report) {
    found.roots = roots_.paced_bytes();
    found.threads = report->threads;
    report->held = found.held;
    pace_.learn(found);
}

void SweepPhase::release_dead_runs() {
    while (!dead_runs_.is_empty()) {
        const DeadRun dead = dead_runs_.take_last();
        dead.kind->instance.release_run(dead.run);
    }
}

// A pointer that still leads to a dead block must not find a descriptor there that the next owner wrote as something
// else.
void SweepPhase::zero_dead(Kind &kind) const {
    blocks_.for_each(kind, [](const BlockAt &block, bool is_marked) {
        if (!is_marked) std::memset(block.begin, 0, block.bytes);
    });
}

}  // namespace gr

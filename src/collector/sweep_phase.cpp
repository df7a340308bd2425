// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/sweep_phase.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace gr {

Found SweepPhase::sweep(CollectionReport *report, Swept which) {
    Found found;
    report->held_before = kinds_.present_bytes();
    kinds_.for_each([&](Kind &kind) {
        sweep_superblocks(kind, report, which);
        sweep_runs(kind, report, &found);
        count(kind, report, &found);
    });
    return found;
}

void SweepPhase::sweep_superblocks(Kind &kind, CollectionReport *report, Swept which) const {
    if (kind.setup.lifetime != Lifetime::collected) return;
    if (kind.setup.asks_blocks() && !kind.keeps_dead) zero_dead(kind);
    CollectorView &view = kind.instance.collector_view();
    const auto live = [&](const Superblock *s, std::uint32_t word) -> Word {
        return kind.keeps_dead ? ~Word{0} : kind.marks.live(s, word, numbers_.current());
    };
    report->freed_blocks += which == Swept::all ? view.sweep(live) : view.sweep_taken(live);
}

void SweepPhase::sweep_runs(Kind &kind, CollectionReport *report, Found *found) {
    const bool is_collected = kind.setup.lifetime == Lifetime::collected;
    kind.instance.collector_view().for_each_run([&](Superblock *run) {
        const bool is_dead = is_collected && blocks_.is_dead(kind, run);
        if (is_dead && kind.keeps_dead) return;
        if (!is_dead) {
            const std::size_t bytes = Superblocks::block_size(run);
            found->add_live(kind.has_pointers(), bytes);
            report->add_live(kind.number, 1, bytes);
            found->held += bytes;
        } else if (dead_runs_.add({&kind, run})) {  // the next collection finds a run that does not fit on the list
            ++report->freed_blocks;
        }
    });
}

void SweepPhase::count(const Kind &kind, CollectionReport *report, Found *found) const {
    kind.instance.collector_view().for_each_superblock([&](const Superblock *s) { count(kind, s, report, found); });
}

void SweepPhase::count(const Kind &kind, const Superblock *s, CollectionReport *report, Found *found) const {
    const std::uint32_t live = live_count(kind, s);
    const std::size_t bytes = std::size_t{live} * s->shape().size;
    found->add_live(kind.has_pointers(), bytes);
    report->add_live(kind.number, live, bytes);
    if (live != 0) found->held += s->bytes() - s->absent.count() * platform::page_size();
}

// Dead blocks that the program is still asked about do not count.
std::uint32_t SweepPhase::live_count(const Kind &kind, const Superblock *s) const {
    std::uint32_t count = s->used_count();
    if (!kind.keeps_dead) return count;
    for (std::uint32_t word = 0; word < kind.instance.superblocks().free_bits(s).word_count(); ++word)
        count -= static_cast<std::uint32_t>(std::popcount(blocks_.dead_bits(kind, s, word)));
    return count;
}

void SweepPhase::release_dead_runs() {
    while (!dead_runs_.is_empty()) {
        const DeadRun dead = dead_runs_.take_last();
        dead.kind->instance.release_run(dead.run);
    }
}

void SweepPhase::free_dead(Kind &kind, std::span<void *const> blocks) {
    const Superblocks &superblocks = kind.instance.superblocks();
    while (!blocks.empty()) {
        Superblock *const s = superblocks.find(blocks.front()).superblock;
        char *const begin = superblocks.begin(s);
        const auto offset_of = [begin](const void *p) {
            return static_cast<std::size_t>(static_cast<const char *>(p) - begin);
        };
        const auto is_of_other = [&](const void *p) { return offset_of(p) >= s->bytes(); };
        const auto behind = std::find_if(blocks.begin(), blocks.end(), is_of_other);
        const std::span<void *const> here = blocks.first(static_cast<std::size_t>(behind - blocks.begin()));
        blocks = blocks.subspan(here.size());
        if (kind.setup.asks_blocks()) {
            const std::size_t bytes = Superblocks::block_size(s);
            const std::size_t extent = Superblocks::block_extent(s);
            for (void *const block : here) BlockAt{block, bytes, extent, &kind}.clear();
        }
        if (s->use == UnitUse::run) {
            kind.instance.release_run(s);
            continue;
        }
        std::array<Word, Superblocks::kWideWords> dead{};
        for (const void *const block : here) {
            const BitPosition at = BitPosition::of(s->shape().block_at(offset_of(block)));
            dead[at.word] |= at.mask;
        }
        kind.instance.collector_view().free_of(s->unit, dead);
    }
}

// A pointer that still leads to a dead block must not find a descriptor there that the next owner wrote as something
// else.
void SweepPhase::zero_dead(Kind &kind) const {
    blocks_.for_each(kind, [](const BlockAt &block, bool is_marked) {
        if (!is_marked) block.clear();
    });
}

}  // namespace gr

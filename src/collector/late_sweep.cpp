// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: collector.hpp: the sweep beside the program: of what nobody but it ever frees, by what was free when the world
//    stood.
// Invariant: the snapshot is taken before the last stop; in it, what was written to bitmaps since is looked at again.
// Must not know: which names programs call; how it is marked.
#include "collector/collector.hpp"

namespace gr {
namespace {

using platform::WriteWatch;

const char *down_to_page(const char *p) {
    return reinterpret_cast<const char *>(align_down(reinterpret_cast<std::uintptr_t>(p), platform::page_size()));
}

}  // namespace

// Of what will be swept late, as it is now; what is written to bitmaps from now on is told of.
bool Collector::take_snapshot() {
    bool is_known = true;
    cycle_.snapshot.clear();
    kinds_.for_each([&](Kind &kind) {
        if (!kind.may_be_swept_late()) return;
        const Region &region = kind.instance.region();
        is_known = for_each_written_row(kind, WriteWatch::Then::watch_on, [](UnitIndex, UnitIndex) {}) && is_known;
        cycle_.snapshot.add(kind, region.first_unit(), region.unit_end());
    });
    return is_known;
}

bool Collector::correct_snapshot() {
    bool is_known = true;
    kinds_.for_each([&](Kind &kind) {
        if (!kind.may_be_swept_late()) return;
        is_known =
            for_each_written_row(kind, WriteWatch::Then::leave,
                                 [&](UnitIndex first, UnitIndex end) { cycle_.snapshot.add(kind, first, end); }) &&
            is_known;
    });
    return is_known;
}

// visit(first, end): units whose superblocks' bitmaps were written to.
template <class Visit>
bool Collector::for_each_written_row(const Kind &kind, WriteWatch::Then then, Visit visit) {
    const Superblocks &superblocks = kind.instance.superblocks();
    const UnitIndex behind = kind.instance.region().unit_end();
    bool is_known = true;
    for (const bool wide : {false, true}) {
        const Superblocks::Rows rows = superblocks.rows_below(behind, wide);
        const platform::Range all{rows.begin, rows.begin + rows.bytes};
        const auto visit_rows = [&](platform::Range written) {
            const UnitIndex end = superblocks.unit_of_row(written.end - 1, wide) + UnitCount(1);
            visit(superblocks.unit_of_row(written.begin < all.begin ? all.begin : written.begin, wide),
                  end < behind ? end : behind);
        };
        const platform::Range pages{down_to_page(all.begin), down_to_page(all.end + platform::page_size() - 1)};
        is_known = cycle_.watch.for_each_written(pages, then, visit_rows) && is_known;
    }
    return is_known;
}

void Collector::sweep_at_once(CollectionReport *report) {
    cycle_.found = {};
    report->held_before = present_bytes();
    kinds_.for_each([&](Kind &kind) {
        sweep_runs(kind, report, &cycle_.found);
        if (kind.may_be_swept_late()) return;
        free_unmarked(kind, report);
        kind.instance.collector_view().for_each_superblock(
            [&](const Superblock *s) { count(kind, s, report, &cycle_.found); });
    });
}

void Collector::leave_watch() {
    kinds_.for_each([&](const Kind &kind) {
        if (kind.has_pointers()) cycle_.watch.leave(kind.units());
    });
}

// A superblock of another class has none of the blocks that were found dead.
void Collector::sweep_beside() {
    work_beside();
    leave_watch();
    CollectionReport &report = cycle_.report;
    cycle_.snapshot.for_each([&](Kind &kind, UnitIndex first, ClassIndex c, auto free_then) {
        report.freed_blocks += kind.instance.collector_view().sweep_of(
            first,
            [&](const Superblock *s, std::uint32_t word) {
                return s->size_class == c ? kind.marks.live(s, word, number_) | free_then(word) : ~Word{0};
            },
            [&](const Superblock *s) { count(kind, s, &report, &cycle_.found); });
    });
    cycle_.found.nanoseconds = cost();
    cycle_.is_swept = true;
    static_cast<void>(come_back());
    if (cycle_.is_swept) end_swept_cycle();
}

void Collector::end_swept_cycle() {
    cycle_.is_swept = false;
    learn(cycle_.found, &cycle_.report);
    end_collection(&cycle_.report);
    cycle_.after_is_due.store(true, std::memory_order_relaxed);
    tell(Step::end);
}

}  // namespace gr

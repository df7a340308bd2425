// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/dirty_pages.hpp"

namespace gr {

const char *DirtyPages::begin() {
    if (has_begun_) return nullptr;
    const char *const lack = watch_.begin({kinds_.field().base(), kinds_.field().end()});
    has_begun_ = lack == nullptr;
    return lack;
}

void DirtyPages::forget() {
    watch_.forget();
    has_begun_ = false;
}

// Where a kind's units end is asked before the marks get memory: what lies beyond was not watched, so it is reported as
// written.
bool DirtyPages::watch() {
    bool done = true;
    kinds_.for_each([&](const Kind &kind) {
        if (kind.has_pointers())
            done = watch_.for_each_written(kind.units(), Then::watch_on, [](platform::Range) {}) && done;
    });
    return done && kinds_.cover_marks();
}

void DirtyPages::leave() {
    kinds_.for_each([&](const Kind &kind) {
        if (kind.has_pointers()) watch_.leave(kind.units());
    });
}

bool DirtyPages::mark_from(Marker &marker, Then then, std::size_t *pages) {
    bool is_known = true;
    std::size_t bytes = 0;
    kinds_.for_each([&](const Kind &kind) {
        if (!kind.has_pointers()) return;
        const bool told = watch_.for_each_written(kind.units(), then, [&](platform::Range written) {
            is_known = kinds_.cover_marks() && is_known;
            marker.push_marked(kind.number, written);
            bytes += written.bytes();
        });
        is_known = told && is_known;
    });
    *pages = bytes / platform::page_size();
    return is_known;
}

bool DirtyPages::mark_from_young(Marker &marker, std::size_t most, std::uint64_t *bytes) {
    const platform::WriteWatch::Pages pages;
    bool is_known = true;
    taken_.clear();
    kinds_.for_each([&](const Kind &kind) {
        if (!kind.has_pointers()) return;
        kind.instance.collector_view().for_each_used_row([&](UnitIndex first, UnitIndex end, bool taken) {
            const auto push = [&](platform::Range written) {
                if (*bytes <= most) *bytes += marker.push_marked(kind.number, written);
            };
            if (*bytes > most) return;
            const Then then = taken ? Then::leave : Then::watch_on;
            is_known = watch_.for_each_written(pages, pages_of(kind, first, end), then, push) && is_known;
            if (taken) is_known = taken_.add({&kind, first, end}) && is_known;
        });
    });
    return is_known;
}

bool DirtyPages::watch_taken() {
    const platform::WriteWatch::Pages pages;
    bool done = true;
    for (const Row &row : taken_.all()) {
        const CollectorView &view = row.kind->instance.collector_view();
        view.for_each_filled_row(row.first, row.end, [&](UnitIndex first, UnitIndex end, bool) {
            const platform::Range used = pages_of(*row.kind, first, end);
            done = watch_.for_each_written(pages, used, Then::watch_on, [](platform::Range) {}) && done;
        });
    }
    taken_.release();
    return done;
}

bool DirtyPages::watch_used() {
    const platform::WriteWatch::Pages pages;
    bool done = true;
    kinds_.for_each([&](const Kind &kind) {
        if (!kind.has_pointers()) return;
        kind.instance.collector_view().for_each_filled_row([&](UnitIndex first, UnitIndex end, bool) {
            const platform::Range used = pages_of(kind, first, end);
            done = watch_.for_each_written(pages, used, Then::watch_on, [](platform::Range) {}) && done;
        });
    });
    return done;
}

}  // namespace gr

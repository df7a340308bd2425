// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/dirty_pages.hpp"

namespace gr {

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
            marker.scan_marked(kind.number, written);
            bytes += written.bytes();
        });
        is_known = told && is_known;
    });
    *pages = bytes / platform::page_size();
    return is_known;
}

}  // namespace gr

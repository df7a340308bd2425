// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/root_scanner.hpp"

#include <algorithm>

#include "collector/in_use_scan.hpp"

namespace gr {

bool RootScanner::scan(Marker &marker) {
    if (roots_.are_everywhere()) {
        return roots_.for_each_written(caller_, markers_.stack_pointers(), [&](platform::Range range) {
            if (hooks_.in_use == nullptr) return marker.scan(range);
            scan_in_use(marker, *kinds_.kind(0), hooks_.in_use, range);
        });
    }
    if (hooks_.push_roots != nullptr) {
        hooks_.push_roots();
    } else {
        push_threads();
    }
    roots_.for_each_variable([&](platform::Range range) { marker.scan(range); });
    finalization_.for_each_root([&](const void *p) { marker.consider_inside(reinterpret_cast<std::uintptr_t>(p)); });
    kinds_.for_each([&](Kind &kind) {
        if (kind.setup.lifetime == Lifetime::until_freed) marker.reach_all(kind.instance.collector_view(), kind.number);
    });
    return true;
}

// A stack that was allocated here ends with its block, not with the mapping.
void RootScanner::push_threads() {
    roots_.for_each_of_threads(caller_ != nullptr, [this](platform::Range range) {
        const Target block = kinds_.field().target(reinterpret_cast<std::uintptr_t>(range.begin));
        if (block.begin != nullptr) range.end = std::min(range.end, block.begin + block.extent);
        Marker::current()->scan_stack(range);
    });
}

}  // namespace gr

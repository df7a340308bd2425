// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: disclaim.hpp.
// Invariant: as there.
// Must not know: what the procedures do.
#include "libgc/disclaim.hpp"

#include "libgc/kinds.hpp"

namespace gr {
namespace {

struct Disclaim {
    DisclaimProcedure procedure = nullptr;  // nullptr: none
    bool whole = false;
};
constinit std::array<Disclaim, kMostKinds> disclaims{};
constinit platform::MappedList<void *> dead;  // of this collection

// Where there is no memory for the list, the object lives until there is.
void keep_dead_of(Kind &kind, bool whole) {
    const std::size_t first = dead.size();
    collector.for_each_block(kind, [](const BlockAt &block, bool marked) {
        if (!marked && !dead.add(block.begin)) collector.set_mark(block.begin, true);
    });
    for (void *const object : dead.all().subspan(first)) {
        if (whole) {
            Marker::current()->consider(reinterpret_cast<std::uintptr_t>(object));
        } else {
            collector.set_mark(object, true);
        }
    }
}

}  // namespace

void set_disclaim(unsigned kind, DisclaimProcedure disclaim, bool whole) {
    disclaims[kind] = {disclaim, whole};
    collector.kind(kind)->tells_dead = true;
}

void keep_disclaimed() {
    dead.clear();
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        if (disclaims[i].procedure != nullptr) keep_dead_of(*collector.kind(i), disclaims[i].whole);
    }
}

void disclaim_dead() {
    for (void *const object : dead.all()) {
        const BlockAt block = collector.block_at(object);
        if (disclaims[block.kind->number].procedure(object) == 0) free_block(block);
    }
    dead.clear();
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/disclaim.hpp"

#include <algorithm>

#include "libgc/standard_kinds.hpp"

namespace gr {
namespace {

struct Disclaim {
    DisclaimProcedure procedure = nullptr;  // nullptr: none
    bool whole = false;
};
constinit std::array<Disclaim, kMostKinds> disclaims{};
constinit platform::MappedList<void *> dead;  // of this collection

// Not the dead themselves: one that another refers to lives until that one is gone.
void mark_from_dead_of(Kind &kind) {
    collector.for_each_block(kind, [](const BlockAt &block, bool marked) {
        if (marked) return;
        const Field &field = collector.field();
        const Target t = field.target(reinterpret_cast<std::uintptr_t>(block.begin));
        Marker::current()->scan(Task{t.begin, field.descriptor_of(t)});
    });
    Marker::current()->drain();
}

// Where there is no memory for the list, the object lives until there is.
void list_dead_of(Kind &kind) {
    collector.for_each_block(kind, [](const BlockAt &block, bool marked) {
        if (!marked && !dead.add(block.begin)) collector.set_mark(block.begin, true);
    });
}

void mark_dead(bool marked) {
    for (void *const object : dead.all()) collector.set_mark(object, marked);
}

}  // namespace

void set_disclaim(unsigned kind, DisclaimProcedure disclaim, bool whole) {
    disclaims[kind] = {disclaim, whole};
    collector.tell_dead(kind);
}

bool has_disclaims() {
    return std::ranges::any_of(disclaims, [](const Disclaim &disclaim) { return disclaim.procedure != nullptr; });
}

void keep_disclaimed() {
    dead.clear();
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        if (disclaims[i].whole) mark_from_dead_of(*collector.kind(i));
    }
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        if (disclaims[i].procedure != nullptr) list_dead_of(*collector.kind(i));
    }
    mark_dead(true);
}

void disclaim_dead() {
    mark_dead(false);
    for (void *const object : dead.all()) {
        const BlockAt block = collector.block_at(object);
        if (collector.is_marked(object)) continue;  // by a procedure, for it is to live
        if (disclaims[block.kind->number].procedure(object) == 0) {
            free_block(block);
        } else {
            collector.set_mark(object, true);
        }
    }
    dead.clear();
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/disclaim.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include "libgc/standard_kinds.hpp"

namespace gr {
namespace {

struct Disclaim {
    DisclaimProcedure procedure = nullptr;  // nullptr: none
    bool whole = false;
};
constinit std::array<Disclaim, kMostKinds> disclaims{};
constinit platform::MappedList<void *> dead;  // what this collection has found dead
// Since the dead were listed. Relaxed: a procedure that marks an object is called by the thread that reads this next.
constinit std::atomic<bool> is_any_marked{false};

// Marks what dead objects refer to, but not the dead objects: an object lives while another dead object refers to it.
void mark_from_dead_of(Kind &kind) {
    collector.for_each_dead(kind, [&kind](const char *begin, std::size_t bytes) {
        const Target object{.begin = begin, .bytes = bytes, .kind = kind.number};
        Marker::current()->scan(Task{begin, collector.field().descriptor_of(object)});
    });
    Marker::current()->drain();
}

// If there is no memory for the list, the object lives until a later collection.
void list_dead_of(Kind &kind) {
    collector.for_each_dead(kind, [](void *object, std::size_t) {
        if (!dead.add(object)) collector.set_mark(object, true);
    });
}

// Returns how many of these dead are to be freed, and puts them first, in their order.
std::size_t ask(DisclaimProcedure procedure, std::span<void *> objects) {
    std::size_t freed = 0;
    for (void *const object : objects) {
        const bool may_live = is_any_marked.load(std::memory_order_relaxed);
        if (may_live && collector.is_marked(object)) continue;
        if (procedure(object) == 0)
            objects[freed++] = object;
        else
            collector.set_mark(object, true);
    }
    return freed;
}

}  // namespace

void set_disclaim(unsigned kind, DisclaimProcedure disclaim, bool whole) {
    disclaims[kind] = {disclaim, whole};
    collector.tell_dead(kind);
    collector.keep_dead(kind, disclaim != nullptr);
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
    is_any_marked.store(false, std::memory_order_relaxed);
}

void note_marked() { is_any_marked.store(true, std::memory_order_relaxed); }

void disclaim_dead() {
    std::span<void *> left = dead.all();
    while (!left.empty()) {
        Kind *const kind = collector.kinds().kind_of(left.front());
        const auto is_of_other = [&](const void *object) { return collector.kinds().kind_of(object) != kind; };
        const auto behind = std::find_if(left.begin(), left.end(), is_of_other);
        const std::span<void *> here = left.first(static_cast<std::size_t>(behind - left.begin()));
        left = left.subspan(here.size());
        collector.free_dead(*kind, here.first(ask(disclaims[kind->number].procedure, here)));
    }
    dead.clear();
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers that libgc's entries share with C++.
// Invariant: the assembly gets the numbers by offset.inc.
// Must not know: what the entries do.
#include <bit>
#include <cstddef>

#include "base/size_class.hpp"
#include "libgc/entries.hpp"
#include "libgc/standard_kinds.hpp"
#include "platform/rseq/offset.inc"

namespace gr {

static_assert(std::has_single_bit(sizeof(platform::SlabsPlace)), "the entries shift a kind's number to its place");

[[gnu::used]] void offsets() {
    OFFSET("GC_FINE_LIMIT", offsetof(EntryState, fine_limit));
    OFFSET("GC_SIZE_LIMIT", offsetof(EntryState, size_limit));
    OFFSET("GC_BASE", offsetof(EntryState, base));
    OFFSET("GC_SLOT_SHIFT", offsetof(EntryState, slot_shift));
    OFFSET("GC_FOUND", offsetof(EntryState, found));
    OFFSET("GC_FREED", offsetof(EntryState, freed));
    OFFSET("GC_CLASS_BYTES", offsetof(EntryState, class_bytes));

    OFFSET("FOUND_SHIFT", std::countr_zero(sizeof(platform::SlabsPlace)));
    OFFSET("FOUND_FINE_LIMIT", offsetof(platform::SlabsPlace, fine_limit));
    OFFSET("FOUND_SLABS", offsetof(platform::SlabsPlace, slabs));
    OFFSET("FOUND_BASE", offsetof(platform::SlabsPlace, base));
    OFFSET("MOST_KINDS", kMostKinds);
    OFFSET("ATOMIC", kAtomic);
    OFFSET("NORMAL", kNormal);
    OFFSET("UNCOLLECTABLE", kUncollectable);
    OFFSET("ATOMIC_UNCOLLECTABLE", kAtomicUncollectable);

    OFFSET("FINE_CLASSES", kFineClasses);
    OFFSET("FIRST_DOUBLING", kFineLimitLog);
    OFFSET("COARSE_SHIFT", kCoarseLog);
}

}  // namespace gr

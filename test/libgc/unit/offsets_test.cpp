// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers in the assembly of libgc's entries against the structures that C++ sees.
// Invariant: every number that both sides know is compared.
// Must not know: what the entries do.
#include <gtest/gtest.h>

#include <cstddef>

#include "base/size_class.hpp"
#include "fake/definitions.hpp"
#include "libgc/entries.hpp"
#include "libgc/kinds.hpp"

namespace gr::offsets_test {

TEST(Offsets, OfEntries) {
    const test::Definitions d = test::definitions_in("libgc/entry_x86_64.S");
    EXPECT_OFFSET(d, "GC_FINE_LIMIT", offsetof(EntryState, fine_limit));
    EXPECT_OFFSET(d, "GC_SIZE_LIMIT", offsetof(EntryState, size_limit));
    EXPECT_OFFSET(d, "GC_BASE", offsetof(EntryState, base));
    EXPECT_OFFSET(d, "GC_SLOT_SHIFT", offsetof(EntryState, slot_shift));
    EXPECT_OFFSET(d, "GC_FOUND", offsetof(EntryState, found));
    EXPECT_OFFSET(d, "GC_FREED", offsetof(EntryState, freed));
    EXPECT_OFFSET(d, "GC_CLASS_BYTES", offsetof(EntryState, class_bytes));
    EXPECT_EQ(1UL << test::value_of(d, "FOUND_SHIFT"), sizeof(platform::SlabsPlace));
    EXPECT_OFFSET(d, "FOUND_FINE_LIMIT", offsetof(platform::SlabsPlace, fine_limit));
    EXPECT_OFFSET(d, "FOUND_SLABS", offsetof(platform::SlabsPlace, slabs));
    EXPECT_OFFSET(d, "FOUND_BASE", offsetof(platform::SlabsPlace, base));
    EXPECT_OFFSET(d, "MOST_KINDS", kMostKinds);
    EXPECT_OFFSET(d, "ATOMIC", kAtomic);
    EXPECT_OFFSET(d, "NORMAL", kNormal);
}

TEST(Offsets, OfClasses) {
    const test::Definitions d = test::definitions_in("libgc/entry_x86_64.S");
    EXPECT_OFFSET(d, "FINE_CLASSES", kFineClasses);
    EXPECT_OFFSET(d, "FIRST_DOUBLING", kFineLimitLog);
    EXPECT_OFFSET(d, "COARSE_SHIFT", kCoarseLog);
    EXPECT_EQ(1U << test::value_of(d, "HEADER_SHIFT"), sizeof(platform::MagazineHeader));
}

}  // namespace gr::offsets_test

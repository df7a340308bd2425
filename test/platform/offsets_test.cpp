// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers in the assembly's macro files against the structures that C++ sees, for every CPU at once.
// Invariant: reads the sources beside this file; every number that both sides know is compared.
// Must not know: what the sequences do.
#include <gtest/gtest.h>
#include <linux/rseq.h>
#include <sys/rseq.h>

#include <cstddef>
#include <string>

#include "base/size_class.hpp"
#include "fake/definitions.hpp"
#include "platform/rseq/sequences.hpp"

namespace gr::platform::offsets_test {

using test::Definitions;
using test::value_of;

Definitions definitions(const std::string &cpu) { return test::definitions_in("platform/rseq/macros_" + cpu + ".inc"); }

void expect_shared(const Definitions &d) {
    EXPECT_OFFSET(d, "SIZE_LIMIT", offsetof(SequenceState, size_limit));
    EXPECT_OFFSET(d, "FINE_LIMIT", offsetof(SequenceState, fine_limit));
    EXPECT_OFFSET(d, "BASE", offsetof(SequenceState, base));
    EXPECT_OFFSET(d, "SLABS", offsetof(SequenceState, slabs));
    EXPECT_OFFSET(d, "UNIT_SHIFT", kUnitShift);
    EXPECT_EQ(1UL << value_of(d, "FINE_SHIFT"), kFineStep);
    EXPECT_OFFSET(d, "SLAB_SHIFT", kSlabShift);
    EXPECT_EQ(1UL << value_of(d, "COUNTER_SHIFT"), kCounterBytes);
    EXPECT_OFFSET(d, "SLOT", kSlotDisplacement);
    EXPECT_OFFSET(d, "REMOTE", header_offset(kRemoteHeader));
    EXPECT_OFFSET(d, "REMOTE_HEADERS", header_offset(kClassCount - 1));
    EXPECT_OFFSET(d, "LIMIT", offsetof(MagazineHeader, limit));
    EXPECT_OFFSET(d, "FIRST", offsetof(MagazineHeader, begin));
    EXPECT_OFFSET(d, "CPU_ID", offsetof(struct rseq, cpu_id));
    EXPECT_OFFSET(d, "RSEQ_CS", offsetof(struct rseq, rseq_cs));
    EXPECT_OFFSET(d, "WRONG_CID", SequenceResult::wrong_cid);
    EXPECT_OFFSET(d, "ABORTED", SequenceResult::aborted);
    EXPECT_OFFSET(d, "DIFFERS", SequenceResult::differs);
    EXPECT_EQ(d.at("LAST_SLOT"), " (SLOT - 8)");
}

TEST(Offsets, X86) {
    const Definitions d = definitions("x86_64");
    expect_shared(d);
    EXPECT_OFFSET(d, "RSEQ_OFFSET", offsetof(SequenceState, rseq_offset));
    EXPECT_OFFSET(d, "CID_OFFSET", offsetof(SequenceState, cid_offset));
    EXPECT_OFFSET(d, "HEADER_SIZE", sizeof(MagazineHeader));
}

TEST(Offsets, Aarch64) {
    const Definitions d = definitions("aarch64");
    expect_shared(d);
    EXPECT_OFFSET(d, "OFFSETS", offsetof(SequenceState, rseq_offset));
    EXPECT_EQ(offsetof(SequenceState, cid_offset), offsetof(SequenceState, rseq_offset) + 8) << "loaded as a pair";
    EXPECT_EQ(1UL << value_of(d, "HEADER_SHIFT"), sizeof(MagazineHeader));
}

TEST(Offsets, TheSignatureIsLibcs) {
#if defined(__x86_64__)
    EXPECT_OFFSET(definitions("x86_64"), "SIGNATURE", RSEQ_SIG);
#else
    EXPECT_OFFSET(definitions("aarch64"), "SIGNATURE", RSEQ_SIG);
#endif
}

// The sequences know these by their position, not by name.
TEST(Offsets, TheHeaderAndItsMasks) {
    EXPECT_EQ(offsetof(MagazineHeader, current), 0U);
    EXPECT_EQ(sizeof(MagazineHeader::current), 4U);
    EXPECT_EQ(kSlotDisplacement % 8, 0U);
}

}  // namespace gr::platform::offsets_test

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers that the sequences and malloc's entries share with C++, for every CPU.
// Invariant: see offset.inc.
// Must not know: what the sequences do.
#include <linux/rseq.h>
#include <sys/rseq.h>

#include <bit>
#include <cstddef>

#include "base/size_class.hpp"
#include "platform/rseq/offset.inc"
#include "platform/rseq/sequences.hpp"

namespace gr::platform {

static_assert(offsetof(MagazineHeader, current) == 0 && sizeof(MagazineHeader::current) == 4,
              "the sequences load and store 4 bytes at the header's address");
static_assert(kSlotDisplacement % sizeof(void *) == 0, "the sequences index slots from the header");
static_assert(offsetof(SequenceState, cid_offset) == offsetof(SequenceState, rseq_offset) + sizeof(std::int64_t),
              "the aarch64 sequences load both as a pair");

[[gnu::used]] void offsets() {
    OFFSET("SIZE_LIMIT", offsetof(SequenceState, size_limit));
    OFFSET("FINE_LIMIT", offsetof(SequenceState, fine_limit));
    OFFSET("BASE", offsetof(SequenceState, base));
    OFFSET("SLABS", offsetof(SequenceState, slabs));
    OFFSET("RSEQ_OFFSET", offsetof(SequenceState, rseq_offset));
    OFFSET("CID_OFFSET", offsetof(SequenceState, cid_offset));

    OFFSET("UNIT_SHIFT", kUnitShift);
    OFFSET("FINE_SHIFT", std::countr_zero(kFineStep));
    OFFSET("SLAB_SHIFT", kSlabShift);
    OFFSET("SLOT", kSlotDisplacement);
    OFFSET("HEADER_SIZE", sizeof(MagazineHeader));
    OFFSET("HEADER_SHIFT", std::countr_zero(sizeof(MagazineHeader)));
    OFFSET("LIMIT", offsetof(MagazineHeader, limit));
    OFFSET("FIRST", offsetof(MagazineHeader, begin));
    OFFSET("REMOTE", header_offset(kRemoteHeader));
    OFFSET("REMOTE_HEADERS", header_offset(kClassCount - 1));  // the largest class's
    OFFSET("COUNTER_SHIFT", std::countr_zero(kCounterBytes));

    OFFSET("CPU_ID", offsetof(struct rseq, cpu_id));
    OFFSET("RSEQ_CS", offsetof(struct rseq, rseq_cs));
    OFFSET("SIGNATURE", RSEQ_SIG);

    OFFSET("WRONG_CID", SequenceResult::wrong_cid);
    OFFSET("ABORTED", SequenceResult::aborted);
    OFFSET("DIFFERS", SequenceResult::differs);
}

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds libc's rseq area and decides whether its fields may be trusted.
// Invariant: never registers rseq and never takes over libc's area; in doubt the answer is no.
// Must not know: what the sequences do.
#include <sys/auxv.h>

#include <cstddef>

#include "platform/process.hpp"
#include "platform/rseq/sequences.hpp"

// glibc 2.35 and later define them; elsewhere they are null.
extern "C" {
extern const std::ptrdiff_t __rseq_offset [[gnu::weak]];
extern const unsigned int __rseq_size [[gnu::weak]];
}

namespace gr::platform {

extern "C" {
SequenceState gr_sequence_state{};
}

namespace {

constexpr unsigned long kAuxFeatureSize = 27;  // AT_RSEQ_FEATURE_SIZE, absent from older headers
constexpr std::int64_t kCpuId = 4;
constexpr std::int64_t kMmCid = 24;
constexpr unsigned kActiveSize = 20;  // up to flags: what every registration has
constexpr unsigned kSizeWithMmCid = 28;
constexpr unsigned kOriginalSize = 32;  // what glibc before 2.40 registers, whichever size it reports

// glibc reports 20 or 32 up to 2.40 and registers 32 bytes in both cases, so that the kernel fills mm_cid in.
bool area_holds_mm_cid(unsigned size) { return size >= kSizeWithMmCid || size == kActiveSize || size == kOriginalSize; }

}  // namespace

bool find_rseq(SequenceState *state) {
    if (&__rseq_size == nullptr || &__rseq_offset == nullptr || __rseq_size < kActiveSize) return false;
    state->rseq_offset = __rseq_offset;
    const bool has_mm_cid = getauxval(kAuxFeatureSize) >= kSizeWithMmCid && area_holds_mm_cid(__rseq_size);
    state->cid_offset = __rseq_offset + (has_mm_cid ? kMmCid : kCpuId);
    return current_cid(*state) >= 0;
}

}  // namespace gr::platform

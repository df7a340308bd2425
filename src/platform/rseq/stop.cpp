// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses membarrier, which makes the sequences under way start over.
#include "platform/rseq/stop.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#include <atomic>

#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

bool membarrier(int command) { return system_call(SYS_membarrier, command, 0, 0) == 0; }

// release: a sequence that reads this address sees the headers written before, because it finds them by this address.
void point_sequences_at(char **found_at, char *slabs) {
    std::atomic_ref<char *>(*found_at).store(slabs, std::memory_order_release);
}

}  // namespace

bool register_for_stops() { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ); }

// Headers are not replaced one by one: a commit overwrites `current` or adds to it, and what was put there meanwhile
// would be lost. Every sequence reads where the slabs lie after it has begun. So a sequence that has read the old place
// starts over.
SequencesStopped::SequencesStopped(char **found_at, char *zeroes) : found_at_(found_at), slabs_(*found_at) {
    point_sequences_at(found_at, zeroes);
    // membarrier orders the store above before all that another CPU does after its interruption.
    done_ = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

SequencesStopped::~SequencesStopped() { point_sequences_at(found_at_, slabs_); }

}  // namespace gr::platform

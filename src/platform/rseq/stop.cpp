// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stop.hpp by membarrier.
// Invariant: every sequence reads where the slabs lie after it has begun, so that the kernel makes it start over if it
//    read the old place.
// Must not know: what is done to the slabs meanwhile.
#include "platform/rseq/stop.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#include <atomic>

#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

bool membarrier(int command) { return system_call(SYS_membarrier, command, 0, 0) == 0; }

// release: a sequence that reads it finds the headers as they are left, for it finds them by what it read.
void point_sequences_at(char **found_at, char *slabs) {
    std::atomic_ref<char *>(*found_at).store(slabs, std::memory_order_release);
}

}  // namespace

bool register_for_stops() { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ); }

// Not header by header: commits on x86-64 are increments and decrements, which nothing that is put there meanwhile would
// survive.
SequencesStopped::SequencesStopped(char **found_at, char *zeroes) : found_at_(found_at), slabs_(*found_at) {
    point_sequences_at(found_at, zeroes);
    // Orders the store above before whatever another CPU does after its interruption.
    done_ = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

SequencesStopped::~SequencesStopped() { point_sequences_at(found_at_, slabs_); }

}  // namespace gr::platform

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what concerns an instance as a whole: trimming, changed limits, the locks of all its parts, the check of all
//    its structures.
// Invariant: a handler that interrupted the heaps waits for no lock here.
// Must not know: single blocks.
#include "instance/instance.hpp"
#include "platform/reentry.hpp"

namespace gr {

std::size_t Instance::trim(std::size_t keep) {
    if (!ensure_started()) return 0;
    // Above the soft limit, reclaim() already returns memory to the OS. That memory counts, too.
    const std::size_t before = given_back_bytes();
    heaps_.reclaim();
    const platform::Reentry entry;
    if (!entry.again()) heaps_.sweep();
    pages_.trim(keep);
    return given_back_bytes() - before;
}

void Instance::return_free_pages() {
    const platform::Reentry entry;
    if (!entry.again()) heaps_.sweep();
}

bool Instance::leaves_room(std::size_t hard_limit) const {
    return hard_limit == 0 || hard_limit >= region_.metadata_bytes() + kChunkBytes;
}

bool Instance::change_limits(std::size_t soft, std::size_t hard) {
    if (!leaves_room(hard)) return false;
    MemoryLimit &limit = pages_.limit();
    limit.change(MemoryLimit::of_option(soft), MemoryLimit::of_option(hard));
    if (limit.is_above_soft() || limit.is_above_hard()) trim(0);
    return true;
}

void Instance::lock_all(platform::Rank rank) {
    if (state_.load(std::memory_order_acquire) != State::ready) return;
    if (rank == platform::Rank::page_heap) return pages_.mutex().lock_always(rank);
    heaps_.lock_all(rank);
}

void Instance::unlock_all(platform::Rank rank) {
    if (state_.load(std::memory_order_acquire) != State::ready) return;
    if (rank == platform::Rank::page_heap) return pages_.mutex().unlock(rank);
    heaps_.unlock_all(rank);
}

void Instance::settle_all() {
    if (state_.load(std::memory_order_acquire) == State::ready) heaps_.settle_all();
}

const char *Instance::first_fault() {
    if (!ensure_started()) return nullptr;
    heaps_.restore_invariants();
    const platform::Reentry entry;  // a handler that interrupts this must not wait for a lock
    for (const platform::Rank rank : kRanks) lock_all(rank);
    const char *fault = heaps_.first_fault();
    if (fault == nullptr && !pages_.is_valid()) fault = "the page heap is not valid";
    for (auto rank = kRanks.rbegin(); rank != kRanks.rend(); ++rank) unlock_all(*rank);
    settle_all();
    return fault;
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whoever can own superblocks: a heap per concurrency id, a global bin per size class, and nobody.
// Invariant: zeroed memory is an owner with a free lock and nothing pending.
// Must not know: what an owner does with its superblocks.
#pragma once

#include <atomic>

#include "base/size_class.hpp"
#include "platform/mutex.hpp"
#include "superblock/superblock.hpp"

namespace gr {

// Heaps come first, so that a heap's owner index is its concurrency id and no other owner's index can be one.
constexpr OwnerIndex owner_of_heap(std::uint32_t heap) { return OwnerIndex(heap); }
constexpr OwnerIndex owner_of_global(ClassIndex c) { return OwnerIndex(kMaxHeaps + c.value); }
inline constexpr OwnerIndex kNobody{kMaxHeaps + kClassCount};

constexpr bool is_heap(OwnerIndex o) { return o.value < kMaxHeaps; }
constexpr platform::Rank rank_of(OwnerIndex o) {
    if (is_heap(o)) return platform::Rank::heap;
    return o == kNobody ? platform::Rank::nobody : platform::Rank::global_bin;
}

// Superblocks with remote frees waiting: many push, the owner takes all with one exchange, so there is no ABA.
class PendingStack {
  public:
    void push(Superblock *s) {
        Superblock *head = head_.load(std::memory_order_relaxed);
        do {
            s->link.store(head, std::memory_order_relaxed);
            // release: publishes the link; pairs with take_all. seq_cst: see has_any.
        } while (!head_.compare_exchange_weak(head, s, std::memory_order_seq_cst, std::memory_order_relaxed));
    }
    Superblock *take_all() { return head_.exchange(nullptr, std::memory_order_acq_rel); }
    // seq_cst, with push and the mutex's try_lock and unlock: after my unlock I see a push whose pusher missed my lock.
    bool has_any() const { return head_.load(std::memory_order_seq_cst) != nullptr; }

  private:
    std::atomic<Superblock *> head_{nullptr};
};

struct alignas(64) Owner {
    platform::Mutex mutex;
    // What strangers write, on a line of its own.
    alignas(64) PendingStack pending;
    // Freed remotely since the last drain, roughly; ordered by nothing.
    std::atomic<std::int64_t> remote_bytes{0};
};

}  // namespace gr

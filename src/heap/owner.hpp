// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whoever can own superblocks: a heap per concurrency id, a global bin per size class, and nobody.
// Invariant: zeroed memory is an owner with a free lock and nothing pending.
// Must not know: what an owner does with its superblocks.
#pragma once

#include <atomic>

#include "base/size_class.hpp"
#include "heap/message.hpp"
#include "heap/take_all_stack.hpp"
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

// Whether to wait for another owner's lock. Not in a drain, whose caller may hold others.
enum class MayWait : bool { no, yes };

// seq_cst, with the stores of a new owner, push and has_any: who pushed to the old owner sees the new one, or is seen by
// the old.
inline OwnerIndex owner_of(const Superblock *s) { return s->owner.load(std::memory_order_seq_cst); }

struct alignas(kCacheLineBytes) Owner {
    platform::Mutex mutex;
    // What strangers write, on a line of its own.
    alignas(kCacheLineBytes) TakeAllStack<Superblock> pending;  // superblocks with remote bits
    TakeAllStack<Message> inbox;                                // heaps only
    // Freed remotely since the last drain, roughly; ordered by nothing.
    std::atomic<std::size_t> remote_bytes{0};

    bool has_news() const { return pending.has_any() || inbox.has_any(); }
};

}  // namespace gr

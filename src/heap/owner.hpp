// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the owners of superblocks: a heap for each concurrency id, a global bin for each size class, and nobody.
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
constexpr CpuGroup cpu_group_of(OwnerIndex heap) { return CpuGroup(heap.value % kCpuGroups); }
constexpr platform::Rank rank_of(OwnerIndex o) {
    if (is_heap(o)) return platform::Rank::heap;
    return o == kNobody ? platform::Rank::nobody : platform::Rank::global_bin;
}

// Whether a function may wait for another owner's lock. `no` in a drain, whose caller may hold other locks.
enum class MayWait : bool { no, yes };

// seq_cst: pairs with the stores of a new owner, with push and with has_any. Either the thread that pushed to the old
// owner's stack sees the new owner, or the old owner sees the push.
inline OwnerIndex owner_of(const Superblock *s) { return s->owner.load(std::memory_order_seq_cst); }

struct alignas(kCacheLineBytes) Owner {
    platform::Mutex mutex;
    // What other threads write, on a cache line of its own.
    alignas(kCacheLineBytes) TakeAllStack<Superblock> pending;  // superblocks with remote bits
    TakeAllStack<Message> inbox;                                // heaps only
    // Bytes freed remotely since the last drain; approximate, ordered by nothing.
    std::atomic<std::size_t> remote_bytes{0};

    bool has_news() const { return pending.has_any() || inbox.has_any(); }
};

}  // namespace gr

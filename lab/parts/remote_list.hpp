// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the remote free-list (Wasik 3.1.4): where others put what they free, for the owner to come and take.
// Invariant: a block that was put is taken once, by one take_all that comes after. Of bins nothing: an array has one
//            each.
// Must not know: whose the blocks are.
#pragma once

#include <concepts>

#include "parts/free_list.hpp"
#include "parts/lock.hpp"
#include "parts/lock_free_list.hpp"

namespace gr::lab {

template <class R>
concept RemoteListLike = requires(R list, void *block) {
    { list.push(block) } -> std::same_as<void>;
    { list.take_all() } -> std::same_as<FreeList>;
    { list.lock() } -> std::same_as<void>;
    { list.unlock() } -> std::same_as<void>;
};

template <Rank kRank>
class LockedRemoteList {
  public:
    constexpr LockedRemoteList() = default;

    void push(void *block) {
        const Locked held(lock_);
        list_.push(block);
    }
    FreeList take_all() {
        const Locked held(lock_);
        return list_.take_all();
    }
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

  private:
    Lock<kRank> lock_;
    FreeList list_;
};

// 3.1.6
using LockFreeRemoteList = LockFreeFreeList;

static_assert(RemoteListLike<LockedRemoteList<Rank::worklist>> && RemoteListLike<LockFreeRemoteList>);

}  // namespace gr::lab

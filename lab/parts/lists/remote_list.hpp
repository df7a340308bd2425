// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the remote free-list (Wasik 3.1.4): other threads push blocks that they free, and the owner takes them.
// Invariant: a block that was pushed is taken once, by one take_all that comes after. take_all empties the list, so
//    there is no ABA. A list knows no bins: there is an array with a list for each bin.
// Must not know: which heap owns a block.
#pragma once

#include <atomic>
#include <concepts>

#include "parts/contract/shown.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/lists/lock.hpp"
#include "platform/events.hpp"

namespace gr::lab {

template <class R>
concept RemoteListLike = Lockable<R> && requires(R list, void *block) {
    { list.push(block) } -> std::same_as<void>;
    { list.take_all() } -> std::same_as<FreeList>;
};

template <Rank kRank>
class LockedRemoteList {
  public:
    void push(void *block) {
        const std::lock_guard held(lock_);
        list_.push(block);
    }
    FreeList take_all() {
        const std::lock_guard held(lock_);
        return list_.take_all();
    }
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }
    void draw(auto &picture, auto place) const {
        picture.lock(place, &lock_);
        list_.for_each([&](const void *block) { picture.listed(block, place, show::Shown::remote); });
    }

  private:
    Lock<kRank> lock_;
    FreeList list_;
};

// 3.1.6
class LockFreeRemoteList {
  public:
    void push(void *block) {
        auto *const b = static_cast<FreeBlock *>(block);
        FreeBlock *first = head_.load(std::memory_order_relaxed);
        do {
            platform::count(platform::Event::atomic_operation);
            b->next = first;
            // release: what the freeing thread did to the block, with the acquire of take_all.
        } while (!head_.compare_exchange_weak(first, b, std::memory_order_release, std::memory_order_relaxed));
    }
    FreeList take_all() {
        FreeList all;
        if (is_empty()) return all;
        platform::count(platform::Event::atomic_operation);
        // acquire: pairs with each push.
        FreeBlock *const first = head_.exchange(nullptr, std::memory_order_acquire);
        all.head_ = first;
        for (const FreeBlock *b = first; b != nullptr; b = b->next) ++all.count_;
        return all;
    }
    // A hint.
    bool is_empty() const { return head_.load(std::memory_order_relaxed) == nullptr; }
    void lock() {}
    void unlock() {}
    void draw(auto &picture, auto place) const {
        for (const FreeBlock *b = head_.load(std::memory_order_relaxed); b != nullptr; b = b->next)
            picture.listed(b, place, show::Shown::remote);
    }

  private:
    std::atomic<FreeBlock *> head_{nullptr};
};

static_assert(RemoteListLike<LockedRemoteList<Rank::worklist>> && RemoteListLike<LockFreeRemoteList>,
              "each list can stand for another");

}  // namespace gr::lab

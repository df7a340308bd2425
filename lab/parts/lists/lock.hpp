// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lab's locks: always taken, taken once the program has a second thread, or none at all; and, for fork, many.
// Invariant: the platform's mutex counts each acquisition, and whether it found the lock taken (counted builds). A
//    lock's word tells whether it is held, so fork's child, which has one thread, unlocks what the fork locked.
// Must not know: what the lock protects.
#pragma once

#include <sys/single_threaded.h>

#include <concepts>
#include <mutex>

#include "parts/contract/shown.hpp"
#include "platform/mutex.hpp"

namespace gr::lab {

using platform::Rank;

template <class L>
concept Lockable = requires(L lock) {
    { lock.lock() } -> std::same_as<void>;
    { lock.unlock() } -> std::same_as<void>;
};
template <class L>
concept LockLike = Lockable<L> && requires(L lock) {
    { lock.try_lock() } -> std::same_as<bool>;
};

// Ranks are the platform's: the list of heaps (instances), a heap, the global heap (global_bin), memory (page_heap).
template <Rank kRank>
class Lock {
  public:
    void lock() {
        while (kShown && mutex_.is_held())
            if (!show::waits(this)) break;
        mutex_.lock_always(kRank);
        show::locked(this);
    }
    bool try_lock() {
        const bool is_locked = mutex_.try_lock(kRank);
        if (is_locked) show::locked(this);
        return is_locked;
    }
    void unlock() {
        show::unlocked(this);
        mutex_.unlock(kRank);
    }
    bool is_held() const { return mutex_.is_held(); }
    bool is_mine() const { return mutex_.held_by_me(); }

  private:
    platform::Mutex mutex_;
};

// Hoard 3.6 (Wasik 4.4): no atomic operation before the program has a second thread.
template <Rank kRank>
class LockOfThreads {
  public:
    void lock() {
        if (__libc_single_threaded == 0) lock_.lock();
    }
    bool try_lock() { return __libc_single_threaded != 0 || lock_.try_lock(); }
    // A thread that did not take the lock is the only one, so no thread holds the lock.
    void unlock() {
        if (lock_.is_held()) lock_.unlock();
    }

  private:
    Lock<kRank> lock_;
};

// For data that one thread alone touches.
struct NoLock {
    void lock() {}
    bool try_lock() { return true; }
    void unlock() {}
};

static_assert(LockLike<Lock<Rank::heap>> && LockLike<LockOfThreads<Rank::heap>> && LockLike<NoLock>,
              "each lock can stand for another");

// For fork: takes locks, and ranges of locks, in the order in which every thread takes them.
inline void lock_all() {}
template <class First>
void lock_all(First &&first, auto &&...others) {
    if constexpr (Lockable<First>) {
        first.lock();
    } else {
        for (auto &lock : first) lock.lock();
    }
    lock_all(others...);
}
// Unlocks in the reverse order.
inline void unlock_all() {}
template <class First>
void unlock_all(First &&first, auto &&...others) {
    unlock_all(others...);
    if constexpr (Lockable<First>) {
        first.unlock();
    } else {
        for (auto &lock : first) lock.unlock();
    }
}

}  // namespace gr::lab

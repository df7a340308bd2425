// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lab's locks: always taken, taken once the program has a second thread, or none at all.
// Invariant: the platform's mutex counts each acquisition, and whether it found the lock taken (counted builds). What is
//            locked can be told from its word, so fork's child lets go of what a single thread's rule would not have taken.
// Must not know: what the lock protects.
#pragma once

#include <sys/single_threaded.h>

#include <concepts>

#include "platform/mutex.hpp"

namespace gr::lab {

using platform::Rank;

template <class L>
concept LockLike = requires(L lock) {
    { lock.lock() } -> std::same_as<void>;
    { lock.try_lock() } -> std::same_as<bool>;
    { lock.unlock() } -> std::same_as<void>;
};

// Ranks are the platform's: the list of heaps (instances), a heap, the global heap (global_bin), memory (page_heap).
template <Rank kRank>
class Lock {
  public:
    constexpr Lock() = default;

    void lock() { mutex_.lock_always(kRank); }
    bool try_lock() { return mutex_.try_lock(kRank); }
    void unlock() { mutex_.unlock(kRank); }
    bool is_held() const { return mutex_.is_held(); }

  private:
    platform::Mutex mutex_;
};

// Hoard 3.6 (Wasik 4.4): no atomic operation before the program has a second thread.
template <Rank kRank>
class LockOfThreads {
  public:
    constexpr LockOfThreads() = default;

    void lock() {
        if (__libc_single_threaded == 0) lock_.lock();
    }
    bool try_lock() { return __libc_single_threaded != 0 || lock_.try_lock(); }
    // Who did not take it is alone, so nobody holds it.
    void unlock() {
        if (lock_.is_held()) lock_.unlock();
    }

  private:
    Lock<kRank> lock_;
};

// Of what one thread alone touches.
struct NoLock {
    void lock() {}
    bool try_lock() { return true; }
    void unlock() {}
};

template <LockLike L>
class [[nodiscard]] Locked {
  public:
    explicit Locked(L &lock) : lock_(lock) { lock_.lock(); }
    ~Locked() { lock_.unlock(); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;

  private:
    L &lock_;
};

static_assert(LockLike<Lock<Rank::heap>> && LockLike<LockOfThreads<Rank::heap>> && LockLike<NoLock>);

}  // namespace gr::lab

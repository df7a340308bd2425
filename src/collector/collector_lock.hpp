// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lock of everything of the collector that is not a block, and whether a collection runs now.
// Invariant: the holder may take the lock again. The number of collections that began or ended changes under the lock.
// Must not know: what the lock guards.
#pragma once

#include "platform/futex.hpp"
#include "platform/mutex.hpp"
#include "platform/world/tasks.hpp"

namespace gr {

class CollectorLock {
  public:
    constexpr CollectorLock() = default;
    CollectorLock(const CollectorLock &) = delete;
    CollectorLock &operator=(const CollectorLock &) = delete;

    void lock() {
        if (!mutex_.held_by_me()) mutex_.lock_always(platform::Rank::collector);
        ++depth_;
    }
    bool try_lock() {
        if (!mutex_.held_by_me() && !mutex_.try_lock(platform::Rank::collector)) return false;
        ++depth_;
        return true;
    }
    // For a thread that does not hold it. false: so many milliseconds were over.
    bool lock_for(unsigned milliseconds) {
        if (!mutex_.lock_for(platform::Rank::collector, milliseconds)) return false;
        ++depth_;
        return true;
    }
    void unlock() {
        if (--depth_ == 0) mutex_.unlock(platform::Rank::collector);
    }
    bool is_mine() const { return mutex_.held_by_me(); }

    // Under the lock. A collection began, or it ended or lets the program run for a while.
    void begin_collecting() {
        collecting_task_.store(platform::task_of_caller(), std::memory_order_relaxed);
        collecting_.fetch_add(1, std::memory_order_relaxed);
    }
    void end_collecting() { collecting_.fetch_add(1, std::memory_order_relaxed); }
    bool is_collecting() const { return is_collecting(collecting_.load(std::memory_order_relaxed)); }
    // Counts how often a collection began or ended; a thread that waits for the end sleeps on it. Relaxed: a thread
    // that waits reads nothing that the lock guards.
    platform::FutexWord &collecting() { return collecting_; }
    // After unlock(), because a woken thread may get this thread's CPU.
    void wake_waiting() { platform::wake_all(collecting_); }
    // The thread that collects, or that did last.
    std::uint32_t collecting_task() const { return collecting_task_.load(std::memory_order_relaxed); }
    static bool is_collecting(std::uint32_t count) { return count % 2 != 0; }

  private:
    platform::Mutex mutex_;
    unsigned depth_ = 0;  // how often the holder has taken the lock
    platform::FutexWord collecting_{0};
    std::atomic<std::uint32_t> collecting_task_{0};  // relaxed: a hint
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a futex lock whose word names its holder, and the ranks that give locks their order.
// Invariant: lock() never waits for the calling thread itself: it returns false in a signal handler whose own thread
//    holds the lock. Debug builds check that blocking acquisitions go up in rank.
// Must not know: what the lock protects.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/check.hpp"
#include "platform/events.hpp"
#include "platform/thread.hpp"

namespace gr::platform {

// Blocking acquisitions go from low to high, one lock of a rank at a time. Only a thread that holds the list of
// instances or an activation takes all locks of a rank, in order. try_lock may take locks in any order.
enum class Rank : std::uint8_t {
    statistics_call,
    statistics_file,
    loader,
    collector,
    origins,
    unloaded_modules,
    sampling,
    profile,
    stacks,
    quarantine,
    instances,
    sweep,
    activation,
    heap,
    global_bin,
    nobody,
    page_heap,
    worklist,
    count
};

// The word is 0 if the lock is free, else the holder's tag. Bit 0 is set when a thread may sleep on the word. Zeroed
// memory is a free lock: so each call names the rank, and the lock does not store it.
class Mutex {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    bool try_lock(Rank rank) {
        std::uint32_t expected = 0;
        count(Event::atomic_operation);
        // acquire: pairs with unlock. seq_cst, also on failure, for a thread that pushes work and then tries the lock
        // of the thread that should do the work: either it gets the lock, or the holder sees the work after its unlock.
        if (!word_.compare_exchange_strong(expected, thread_tag(), std::memory_order_seq_cst)) return false;
        note_acquired(rank, false);
        return true;
    }
    // false: the calling thread already holds the lock, and this is a handler that interrupted it. acquire: see
    // try_lock.
    [[nodiscard]] bool lock(Rank rank) {
        std::uint32_t expected = 0;
        count(Event::atomic_operation);
        if (!word_.compare_exchange_strong(expected, thread_tag(), std::memory_order_acquire) && !wait()) return false;
        note_acquired(rank, true);
        return true;
    }
    // Like lock_always, but waits for at most so many milliseconds at a time. false: the time was up.
    [[nodiscard]] bool lock_for(Rank rank, unsigned milliseconds) {
        std::uint32_t expected = 0;
        count(Event::atomic_operation);
        if (!word_.compare_exchange_strong(expected, thread_tag(), std::memory_order_acquire) &&
            !wait_for(milliseconds))
            return false;
        note_acquired(rank, true);
        return true;
    }
    // For a thread that cannot hold the lock: it has just released it.
    void lock_always(Rank rank) {
        const bool locked = lock(rank);
        GR_CHECK(locked);
    }
    void unlock(Rank rank) {
        note_released(rank);
        count(Event::atomic_operation);
        // release: pairs with the acquire of the next holder. seq_cst: see try_lock.
        if ((word_.exchange(0, std::memory_order_seq_cst) & kContended) != 0) wake();
    }
    // In fork's child, for a lock that fork did not take: the child may not have the thread that holds it.
    void forget_holder() { word_.store(0, std::memory_order_relaxed); }
    bool held_by_me() const { return (word_.load(std::memory_order_relaxed) & ~kContended) == thread_tag(); }
    bool is_held() const { return word_.load(std::memory_order_relaxed) != 0; }

  private:
    static constexpr std::uint32_t kContended = 1;

    bool wait();
    bool wait_for(unsigned milliseconds);
    template <class Sleep>
    bool wait_with(Sleep sleep);
    void wake();
    static void note_acquired(Rank rank, bool blocking);
    static void note_released(Rank rank);

    std::atomic<std::uint32_t> word_{0};
};

// Holds a mutex for a scope; locked() tells whether it could take the mutex.
class [[nodiscard]] Guard {
  public:
    Guard(Mutex &mutex, Rank rank) : mutex_(mutex), rank_(rank), locked_(mutex.lock(rank)) {}
    ~Guard() {
        if (locked_) mutex_.unlock(rank_);
    }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    bool locked() const { return locked_; }

  private:
    Mutex &mutex_;
    Rank rank_;
    bool locked_;
};

}  // namespace gr::platform

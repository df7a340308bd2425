// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a futex lock whose word names its holder, and the ranks that give locks their order.
// Invariant: lock() never waits for the calling thread itself: a signal handler that meets a lock its own thread holds
//    is told so. Debug builds check that blocking acquisitions go up in rank.
// Must not know: what the lock protects.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/check.hpp"
#include "platform/events.hpp"
#include "platform/thread.hpp"

namespace gr::platform {

// Blocking acquisitions go from low to high, one lock of a rank at a time; only who holds the list of instances or an
// activation takes all of them, in order. trylock may go anywhere.
enum class Rank : std::uint8_t {
    statistics_call,
    statistics_file,
    loader,
    collector,
    origins,
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

// The word: 0 free, else the holder's tag, with bit 0 set when somebody sleeps on it. Zeroed memory is a free lock, so
// the rank is named by each call and stored nowhere.
class Mutex {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    bool try_lock(Rank rank) {
        std::uint32_t expected = 0;
        count(Event::atomic_operation);
        // acquire: pairs with unlock. seq_cst, also on failure, for those who push work and then try the lock of
        // whoever should do it: either they get it, or the holder sees the work after its unlock.
        if (!word_.compare_exchange_strong(expected, thread_tag(), std::memory_order_seq_cst)) return false;
        note_acquired(rank, false);
        return true;
    }
    // false: the calling thread holds it already (a handler interrupted it).
    [[nodiscard]] bool lock(Rank rank) {
        std::uint32_t expected = 0;
        count(Event::atomic_operation);
        if (!word_.compare_exchange_strong(expected, thread_tag(), std::memory_order_acquire) && !wait()) return false;
        note_acquired(rank, true);
        return true;
    }
    // For a thread that cannot hold it: it has just let it go.
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
    // In fork's child, of a lock that fork did not take: its holder may be a thread that is not there.
    void forget_holder() { word_.store(0, std::memory_order_relaxed); }
    bool held_by_me() const { return (word_.load(std::memory_order_relaxed) & ~kContended) == thread_tag(); }
    bool is_held() const { return word_.load(std::memory_order_relaxed) != 0; }

  private:
    static constexpr std::uint32_t kContended = 1;

    bool wait();
    void wake();
    static void note_acquired(Rank rank, bool blocking);
    static void note_released(Rank rank);

    std::atomic<std::uint32_t> word_{0};
};

// Holds a mutex for a scope; tells whether it could.
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

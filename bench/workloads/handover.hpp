// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the workloads need in which some threads allocate and others free: a bounded queue, the share of
//    the work of each allocating thread, the count of live bytes.
// Invariant: a queue allocates nothing after its construction and loses nothing; an item is handed over under one
//    lock, so an item should be many blocks.
// Must not know: what is handed over.
#pragma once

#include <condition_variable>
#include <mutex>

#include "workload.hpp"

namespace gr::bench {

// First in, first out, any number of threads on each side. Items change places with what the queue holds instead of
// being copied, so that the memory they own goes round.
template <typename Item>
class Queue {
  public:
    // Each place begins as a copy of `empty`.
    explicit Queue(std::size_t places, const Item &empty = {}) : ring_(places, empty) {}

    void push(Item &item) {
        std::unique_lock lock(mutex_);
        not_full_.wait(lock, [this] { return count_ < ring_.size(); });
        put(item, lock);
    }
    // false: full, and the item is as it was.
    bool try_push(Item &item) {
        std::unique_lock lock(mutex_);
        if (count_ == ring_.size()) return false;
        put(item, lock);
        return true;
    }
    // false: closed, and everything has been popped.
    bool pop(Item &item) {
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [this] { return count_ > 0 || closed_; });
        return take(item, lock);
    }
    // false: empty now.
    bool try_pop(Item &item) {
        std::unique_lock lock(mutex_);
        return take(item, lock);
    }
    // Nothing may be pushed afterwards.
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        not_empty_.notify_all();
    }

  private:
    void put(Item &item, std::unique_lock<std::mutex> &lock) {
        std::swap(ring_[(first_ + count_) % ring_.size()], item);
        ++count_;
        lock.unlock();
        not_empty_.notify_one();
    }
    bool take(Item &item, std::unique_lock<std::mutex> &lock) {
        if (count_ == 0) return false;
        std::swap(ring_[first_], item);
        first_ = (first_ + 1) % ring_.size();
        --count_;
        lock.unlock();
        not_full_.notify_one();
        return true;
    }

    std::mutex mutex_;
    std::condition_variable not_full_, not_empty_;
    std::vector<Item> ring_;
    std::size_t first_ = 0, count_ = 0;
    bool closed_ = false;
};

// How much of --ops falls to the allocating thread `number` of `sharers`; without --ops no end. Allocating threads are
// the workers with the lowest numbers and leave Worker::did() to those that free; so Worker::more() holds for each that
// has a share, until the time is up.
inline std::uint64_t share(const Settings &settings, std::size_t number, std::size_t sharers) {
    if (settings.operations == 0) return UINT64_MAX;
    return settings.operations / sharers + (number < settings.operations % sharers);
}

// Requested bytes that are live, and their peak; for batches of blocks, since every thread writes here.
class LiveBytes {
  public:
    void add(std::uint64_t bytes) {
        const std::uint64_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        std::uint64_t peak = peak_.load(std::memory_order_relaxed);
        while (peak < live && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) continue;
    }
    void remove(std::uint64_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }
    double peak() const { return static_cast<double>(peak_.load(std::memory_order_relaxed)); }

  private:
    std::atomic<std::uint64_t> live_ = 0;
    std::atomic<std::uint64_t> peak_ = 0;
};

}  // namespace gr::bench

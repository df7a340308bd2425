// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts the memory that the allocator holds from the kernel, against a soft and a hard limit.
// Invariant: may_take never raises the bytes held above the hard limit; only took() and a lowered limit can leave them
//    above. The news that the soft limit was crossed comes once. It comes again only after the bytes held fell well
//    below the soft limit, or after the limits changed.
// Must not know: what is done above the soft limit; where the memory lies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"

namespace gr {

class MemoryLimit {
  public:
    static constexpr std::size_t kNone = SIZE_MAX;
    // In an option 0 means no limit.
    static constexpr std::size_t of_option(std::size_t bytes) { return bytes == 0 ? kNone : bytes; }

    void initialise(std::size_t soft, std::size_t hard) {
        soft_.store(soft, std::memory_order_relaxed);
        hard_.store(hard, std::memory_order_relaxed);
    }
    // At any time, by one thread at a time. The bytes held stay; if they are above the new soft limit, that is news.
    void change(std::size_t soft, std::size_t hard) {
        initialise(soft, hard);
        // In this order no news is lost: note_crossing below repeats news that the first store clears, and the news
        // of a thread that notes a crossing after the second store stays.
        news_.store(false, std::memory_order_relaxed);
        crossed_.store(false, std::memory_order_relaxed);
        note_crossing(held());
    }
    // Counts so many more bytes before they are taken. false: the hard limit forbids it, nothing is counted.
    bool may_take(std::size_t bytes) {
        std::size_t held = held_.load(std::memory_order_relaxed);
        const std::size_t hard = this->hard();
        do {
            if (held > hard || bytes > hard - held) return false;
        } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
        note_crossing(held + bytes);
        return true;
    }
    // Counts bytes that cannot be refused any more.
    void took(std::size_t bytes) { note_crossing(held_.fetch_add(bytes, std::memory_order_relaxed) + bytes); }
    void gave(std::size_t bytes) {
        const std::size_t held = held_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
        if (held <= soft() - soft() / kLimitParts && crossed_.load(std::memory_order_relaxed))
            crossed_.store(false, std::memory_order_relaxed);
    }

    std::size_t held() const { return held_.load(std::memory_order_relaxed); }
    std::size_t hard() const { return hard_.load(std::memory_order_relaxed); }
    bool has_hard() const { return hard() != kNone; }
    bool is_above_soft() const { return held() > soft(); }
    bool is_above_hard() const { return held() > hard(); }
    // The soft limit was crossed, and take_news has not been called since.
    bool has_news() const { return news_.load(std::memory_order_relaxed); }
    bool take_news() { return news_.exchange(false, std::memory_order_relaxed); }

  private:
    std::size_t soft() const { return soft_.load(std::memory_order_relaxed); }
    void note_crossing(std::size_t held) {
        if (held > soft() && !crossed_.exchange(true, std::memory_order_relaxed))
            news_.store(true, std::memory_order_relaxed);
    }

    // All relaxed: they order no other memory. A thread that reads an older limit counts as one that asked before the
    // change.
    std::atomic<std::size_t> soft_{kNone};
    std::atomic<std::size_t> hard_{kNone};
    std::atomic<std::size_t> held_{0};
    std::atomic<bool> crossed_{false};
    std::atomic<bool> news_{false};
};

}  // namespace gr

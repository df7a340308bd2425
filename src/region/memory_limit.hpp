// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much memory the allocator holds of the kernel, against a soft and a hard limit.
// Invariant: what is held never exceeds the hard limit by what was asked for with may_take; the news that the soft one
//    was crossed come once, and again only after what is held had fallen well below it.
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

    void initialise(std::size_t soft, std::size_t hard) {
        soft_ = soft;
        hard_ = hard;
    }
    // Bytes more are to be held. false: they may not.
    bool may_take(std::size_t bytes) {
        std::size_t held = held_.load(std::memory_order_relaxed);
        do {
            if (held > hard_ || bytes > hard_ - held) return false;
        } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
        note_crossing(held + bytes);
        return true;
    }
    // The same for what cannot be refused any more.
    void took(std::size_t bytes) { note_crossing(held_.fetch_add(bytes, std::memory_order_relaxed) + bytes); }
    void gave(std::size_t bytes) {
        const std::size_t held = held_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
        if (held <= soft_ - soft_ / kLimitParts && crossed_.load(std::memory_order_relaxed))
            crossed_.store(false, std::memory_order_relaxed);
    }

    std::size_t held() const { return held_.load(std::memory_order_relaxed); }
    std::size_t hard() const { return hard_; }
    bool has_hard() const { return hard_ != kNone; }
    bool is_above_soft() const { return held() > soft_; }
    // The soft limit was crossed and nobody was told.
    bool has_news() const { return news_.load(std::memory_order_relaxed); }
    bool take_news() { return news_.exchange(false, std::memory_order_relaxed); }

  private:
    void note_crossing(std::size_t held) {
        if (held > soft_ && !crossed_.exchange(true, std::memory_order_relaxed))
            news_.store(true, std::memory_order_relaxed);
    }

    // Written at start-up only.
    std::size_t soft_ = kNone;
    std::size_t hard_ = kNone;
    // A count and two flags; they order nothing.
    std::atomic<std::size_t> held_{0};
    std::atomic<bool> crossed_{false};
    std::atomic<bool> news_{false};
};

}  // namespace gr

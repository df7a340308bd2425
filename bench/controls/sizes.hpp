// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many requests there were of each size, and how many blocks of each were live at the peak.
// Invariant: exact up to kExact, then in steps of kStep, the last of which has no end; of all sizes the live blocks at
//    the peak are of one moment, when no more than a 64th (or kLeast) was missing to the most there ever was.
// Must not know: blocks, allocators, where it is written to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gr::bench {

class Sizes {
  public:
    void request(std::size_t size) { places_[index_of(size)].requests.fetch_add(1, std::memory_order_relaxed); }
    // In all so many bytes are live then.
    void add(std::size_t size, std::size_t live_bytes) {
        places_[index_of(size)].live.fetch_add(1, std::memory_order_relaxed);
        if (live_bytes >= due_.load(std::memory_order_relaxed)) take(live_bytes);
    }
    void subtract(std::size_t size) { places_[index_of(size)].live.fetch_sub(1, std::memory_order_relaxed); }

    // In the child of a fork, which has one thread: nothing was requested yet; what is live stays so.
    void begin_anew(std::size_t live_bytes) {
        for (Place &place : places_) place.requests.store(0, std::memory_order_relaxed);
        busy_.store(false, std::memory_order_relaxed);
        take(live_bytes);
    }

    // visit(largest size, requests, live at the peak) for each step that was requested or live then.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < kPlaces; ++i) {
            const std::uint64_t requests = places_[i].requests.load(std::memory_order_relaxed);
            if (requests != 0 || places_[i].at_peak != 0) visit(size_of(i), requests, places_[i].at_peak);
        }
    }

  private:
    static constexpr std::size_t kExact = std::size_t{64} << 10;
    static constexpr std::size_t kStep = std::size_t{4} << 10;
    static constexpr std::size_t kSteps = 16384;
    static constexpr std::size_t kPlaces = kExact + 1 + kSteps;
    static constexpr std::size_t kLeast = std::size_t{4} << 10;

    struct Place {
        std::atomic<std::uint64_t> requests{0};
        std::atomic<std::uint32_t> live{0};
        std::uint32_t at_peak = 0;
    };

    static std::size_t index_of(std::size_t size) {
        if (size <= kExact) return size;
        return kExact + std::min((size - kExact + kStep - 1) / kStep, kSteps);
    }
    static std::size_t size_of(std::size_t index) {
        return index <= kExact ? index : kExact + (index - kExact) * kStep;
    }

    // One thread at a time; a thread that finds another one here leaves the work to that one.
    void take(std::size_t live_bytes) {
        if (busy_.exchange(true, std::memory_order_acquire)) return;
        due_.store(live_bytes + std::max(live_bytes / 64, kLeast), std::memory_order_relaxed);
        for (Place &place : places_) place.at_peak = place.live.load(std::memory_order_relaxed);
        busy_.store(false, std::memory_order_release);
    }

    Place places_[kPlaces];
    std::atomic<std::size_t> due_{0};
    std::atomic<bool> busy_{false};
};

}  // namespace gr::bench

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts the free memory in superblocks of the global heap, and predicts what a purge would return to the OS.
// Invariant: bytes = the sum of the idle bytes of all superblocks in global bins. least <= bytes: the lowest value of
//    bytes since growth was taken.
// Must not know: superblocks; how memory is returned to the OS.
#pragma once

#include <atomic>
#include <cstddef>

namespace gr {

class GlobalFree {
  public:
    // Called under the lock of the bin concerned. For all other threads the sum is a hint, ordered by nothing.
    void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void subtract(std::size_t bytes) {
        const std::size_t left = bytes_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
        if (left < least_.load(std::memory_order_relaxed)) least_.store(left, std::memory_order_relaxed);
    }
    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

    // Bytes that became free since the sum was lowest.
    std::size_t growth() const { return growth_to(bytes()); }
    // Takes the growth in whole steps. From then on only the rest counts, and what is freed later.
    std::size_t take_growth(std::size_t step) {
        const std::size_t now = bytes();  // once: other threads add and subtract meanwhile
        const std::size_t growth = growth_to(now);
        const std::size_t rest = growth % step;
        least_.store(now - rest, std::memory_order_relaxed);
        return growth - rest;
    }

    // Bytes that a purge would return now, predicted from the last purge. A page is free only when the last of its
    // blocks is: the end of a burst of frees makes more memory returnable than it frees, and its beginning less.
    std::size_t expected() const { return growth() / kYieldParts * yield_.load(std::memory_order_relaxed); }
    // How many bytes must become free until a purge is expected to return `bytes`.
    std::size_t growth_for(std::size_t bytes) const {
        return bytes / yield_.load(std::memory_order_relaxed) * kYieldParts;
    }
    // Called by one thread at a time, after a purge: `growth` bytes had become free, and the purge returned
    // `given_back` bytes. If the yield has risen, the next yield is expected to rise by the same factor.
    void learn(std::size_t growth, std::size_t given_back) {
        const std::size_t part = growth / kYieldParts;
        const std::size_t found = bounded(part == 0 ? kYieldParts : given_back / part);
        yield_.store(found > found_ ? bounded(found * found / found_) : found, std::memory_order_relaxed);
        found_ = found;
    }

  private:
    static constexpr std::size_t kYieldParts = 16;
    static constexpr std::size_t kLeastYield = kYieldParts / 2;
    static constexpr std::size_t kMostYield = kYieldParts * 16;

    std::size_t growth_to(std::size_t bytes) const {
        const std::size_t least = least_.load(std::memory_order_relaxed);
        return bytes > least ? bytes - least : 0;
    }
    static constexpr std::size_t bounded(std::size_t yield) {
        return yield < kLeastYield ? kLeastYield : yield > kMostYield ? kMostYield : yield;
    }

    std::atomic<std::size_t> bytes_{0};
    std::atomic<std::size_t> least_{0};
    std::atomic<std::size_t> yield_{kYieldParts};  // expected, in kYieldParts-ths of what became free
    std::size_t found_{kYieldParts};               // the yield of the last purge
};

}  // namespace gr

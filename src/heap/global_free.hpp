// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much free memory lies in superblocks of the global heap, and when it is so much that they are swept.
// Invariant: bytes = sum over the superblocks in global bins of their idle bytes; least <= bytes: the least that was
//    left since growth was taken.
// Must not know: superblocks; how memory is given back.
#pragma once

#include <atomic>
#include <cstddef>

namespace gr {

class GlobalFree {
  public:
    // By whoever holds the lock of the bin concerned. A hint to everybody else, ordered by nothing.
    void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void subtract(std::size_t bytes) {
        const std::size_t left = bytes_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
        if (left < least_.load(std::memory_order_relaxed)) least_.store(left, std::memory_order_relaxed);
    }
    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

    // What became free since there was least.
    std::size_t growth() const { return growth_to(bytes()); }
    // In whole steps; from here on only the rest counts, and what is freed later.
    std::size_t take_growth(std::size_t step) {
        const std::size_t now = bytes();  // once: others add and subtract meanwhile
        const std::size_t growth = growth_to(now);
        const std::size_t rest = growth % step;
        least_.store(now - rest, std::memory_order_relaxed);
        return growth - rest;
    }

    // What a sweep now would give back of it, by what the last one found: a page goes with the last of its blocks, so
    // the end of a burst gives back more than it frees, its beginning less.
    std::size_t expected() const { return growth() / kYieldParts * yield_.load(std::memory_order_relaxed); }
    // How much must become free for as much as `bytes` to be expected of it.
    std::size_t growth_for(std::size_t bytes) const {
        return bytes / yield_.load(std::memory_order_relaxed) * kYieldParts;
    }
    // By one at a time: a sweep gave so much back of what had become free. What it found more than the one before, the
    // next one will find more again.
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
    std::atomic<std::size_t> yield_{kYieldParts};  // expected, in parts of what became free
    std::size_t found_{kYieldParts};               // by the last sweep
};

}  // namespace gr

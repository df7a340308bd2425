// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when the next collection is due: as soon as the heap would grow beyond what the last one found worth keeping.
// Invariant: between two collections at least a part of what the last one marked is allocated, so that the cost of
//    marking is a constant for each byte allocated (Boehm, section 2).
// Must not know: how it is collected; who allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"

namespace gr {

// Bytes, as the last collection left them.
struct Found {
    std::size_t live_with_pointers = 0;  // in blocks that are scanned
    std::size_t live_without = 0;
    std::size_t roots = 0;
    std::size_t threads = 0;  // that were stopped
    std::size_t held = 0;     // units that hold some of it, but for pages that were given back

    void add_live(bool has_pointers, std::size_t bytes) { (has_pointers ? live_with_pointers : live_without) += bytes; }
};

class Pace {
  public:
    constexpr Pace() = default;

    // An eighth of what is not scanned counts as work. Free blocks in units that are held serve first; if they are not of
    // the sizes that are wanted, the heap grows by a part all the same. Up to what it was allowed before it may always
    // grow, for no peak becomes higher by that; but what shrank does not get its old peak back at once.
    void learn(const Found &found) {
        const std::size_t live = found.live_with_pointers + found.live_without;
        const std::size_t worth = 2 * found.live_with_pointers + found.live_without / 4 + found.roots;
        const std::size_t small = lesser(live * kSmallParts, kSmall);
        const std::size_t least = larger(small, kLeast + found.threads * kForEachThread);
        const std::size_t wanted = larger(worth / divisor_, least);
        const std::size_t enough = larger(live + wanted, found.held + wanted / kLeastParts);
        allowed_ = larger(allowed_, enough);
        const std::size_t due = lesser(allowed_, larger(enough, found.held + kMostParts * wanted));
        due_at_.store(due, std::memory_order_relaxed);
        room_.store(due - found.held, std::memory_order_relaxed);
    }
    bool is_due(std::size_t held) const { return held >= due_at_.load(std::memory_order_relaxed); }
    std::size_t due_at() const { return due_at_.load(std::memory_order_relaxed); }
    const std::atomic<std::size_t> *due_cell() const { return &due_at_; }
    // What units may take from the last collection to the next.
    std::size_t room() const { return room_.load(std::memory_order_relaxed); }
    // A collection beside the program begins so early that it should end where it is due, by what the last one took.
    void learn_growth(std::size_t bytes) { growth_.store(bytes, std::memory_order_relaxed); }
    bool is_due_beside(std::size_t held) const {
        const std::size_t least = room() / kEarlyParts;
        const std::size_t early = growth_.load(std::memory_order_relaxed) + least;
        return held >= due_at() - (early < room() - least ? early : room() - least);
    }
    // And from here on the program has to wait for it.
    bool is_late_beside(std::size_t held) const { return held >= due_at() + room() / kLateParts; }
    // After a collection that could not be done: the next one is likely to fail, too, so tries become ever rarer.
    void put_off(std::size_t held) {
        due_at_.store(held + larger(kLeast, held / kPutOffParts), std::memory_order_relaxed);
    }
    // A program that knows that it will need so much.
    void expect(std::size_t bytes) { due_at_.fetch_add(bytes, std::memory_order_relaxed); }

    // The larger, the less memory and the more collections; at least 1.
    std::size_t divisor() const { return divisor_; }
    void set_divisor(std::size_t divisor) { divisor_ = divisor == 0 ? 1 : divisor; }

    // Nobody collects while it is above 0; and not unasked while `automatic` is false.
    std::atomic<int> disabled{0};       // ordered by nothing
    std::atomic<bool> automatic{true};  // ordered by nothing
    // Bytes in units; with so many the heap grows no more unless a collection frees some. Ordered by nothing.
    std::atomic<std::size_t> most{SIZE_MAX};

  private:
    static constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }
    static constexpr std::size_t lesser(std::size_t a, std::size_t b) { return a < b ? a : b; }

    static constexpr std::size_t kLeast = 10 * kMiB;
    // Of what lives, while that is little: a heap whose blocks are of many sizes needs more.
    static constexpr std::size_t kSmallParts = 4;
    static constexpr std::size_t kSmall = 14 * kMiB;
    static constexpr std::size_t kForEachThread = 256 * kKiB;
    static constexpr std::size_t kLeastParts = 16;
    static constexpr std::size_t kMostParts = 2;
    static constexpr std::size_t kEarlyParts = 4;
    static constexpr std::size_t kLateParts = 8;
    static constexpr std::size_t kPutOffParts = 4;

    std::size_t divisor_ = 3;
    std::size_t allowed_ = 0;                  // bytes held, before a collection was due
    std::atomic<std::size_t> due_at_{kLeast};  // bytes held; ordered by nothing
    std::atomic<std::size_t> room_{kLeast};    // bytes, from what was held to where it is due; ordered by nothing
    std::atomic<std::size_t> growth_{
        0};  // bytes, while the last collection went on beside the program; ordered by nothing
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far a quantity went up and down since a moment.
// Invariant: least <= last <= most, but for what two threads note at once.
// Must not know: what the quantity is; when the moments are.
#pragma once

#include <atomic>
#include <cstddef>

namespace gr {

// Advice: its atomics are ordered by nothing.
class Swing {
  public:
    void note(std::size_t value) {
        last_.store(value, std::memory_order_relaxed);
        if (value < load(least_)) least_.store(value, std::memory_order_relaxed);
        if (value > load(most_)) most_.store(value, std::memory_order_relaxed);
    }
    std::size_t height() const {
        const std::size_t least = load(least_);
        const std::size_t most = load(most_);
        return most > least ? most - least : 0;
    }
    // The moment is now.
    void restart() {
        least_.store(load(last_), std::memory_order_relaxed);
        most_.store(load(last_), std::memory_order_relaxed);
    }

  private:
    static std::size_t load(const std::atomic<std::size_t> &value) { return value.load(std::memory_order_relaxed); }

    std::atomic<std::size_t> last_{0};
    std::atomic<std::size_t> least_{0};
    std::atomic<std::size_t> most_{0};
};

}  // namespace gr

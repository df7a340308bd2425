// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far a quantity went up and down since a moment.
// Invariant: least <= last <= most, unless two threads noted values at once.
// Must not know: what the quantity is; when the moments are.
#pragma once

#include <atomic>
#include <cstddef>

namespace gr {

// Any thread may call any function at any time. The height is advice, so the atomics are relaxed.
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
    // From now on the height counts from the last value.
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

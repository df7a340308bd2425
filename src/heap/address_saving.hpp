// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: address-saving mode: the heaps cache nothing while addresses are scarce and the memory in use falls. A block in
//    a magazine keeps a whole superblock's addresses, and after the last free no call takes the block out.
// Invariant: the mode ends when the memory in use grows again, has become small, or does not fall for some calls. So a
//    program that continues with less memory pays for the mode only for a limited time.
// Must not know: magazines; what the mode changes.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/config.hpp"

namespace gr {

// Any thread may call it at any time. Its answers are hints, and its atomics are ordered by nothing.
class AddressSaving {
  public:
    // `least`: the mode can begin only after so many bytes were in use. 0: the mode never begins.
    void initialise(std::size_t least) { least_ = least; }

    bool is_on() const { return on_.load(std::memory_order_relaxed); }
    // Called after a free. true, to one caller only: the mode begins now.
    bool begins(std::size_t in_use) {
        if (least_ == 0 || is_on()) return false;
        const std::size_t most = load(most_);
        if (in_use > most) store(most_, in_use);
        if (most < least_ || in_use > most - most / kAddressSavingFallParts) return false;
        store(lowest_, in_use);
        store(calls_left_, calls_for(most));
        return !on_.exchange(true, std::memory_order_relaxed);
    }
    // Called by each call that would cache something: whether the mode continues. spanned: bytes of the whole
    // superblocks and runs that hold the memory in use.
    bool lasts(std::size_t in_use, std::size_t spanned) {
        if (!is_on()) return false;
        const std::size_t lowest = load(lowest_);
        const std::size_t left = load(calls_left_);
        if (in_use < lowest - lowest / (2 * kAddressSavingFallParts)) {
            store(lowest_, in_use);
            store(calls_left_, calls_for(in_use));
        } else if (left != 0) {
            store(calls_left_, left - 1);
        }
        const std::size_t little = least_ / kAddressSavingFallParts;
        const std::size_t growth = lowest / kAddressSavingFallParts;
        if (left != 0 && spanned >= little && in_use <= lowest + (growth > little ? growth : little)) return true;
        store(most_, in_use);
        on_.store(false, std::memory_order_relaxed);
        return false;
    }

  private:
    static std::size_t load(const std::atomic<std::size_t> &value) { return value.load(std::memory_order_relaxed); }
    static void store(std::atomic<std::size_t> &value, std::size_t to) { value.store(to, std::memory_order_relaxed); }
    std::size_t calls_for(std::size_t in_use) const {
        return 1 + (in_use > least_ ? in_use : least_) / kAddressSavingBytesPerCall;
    }

    std::size_t least_ = 0;
    std::atomic<bool> on_{false};
    std::atomic<std::size_t> most_{0};  // the most in use since the mode ended
    std::atomic<std::size_t> lowest_{0};
    std::atomic<std::size_t> calls_left_{0};  // until the mode ends because the use does not fall
};

}  // namespace gr

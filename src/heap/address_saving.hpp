// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when a heap whose addresses are scarce caches nothing: while what is in use falls. A block in a magazine keeps
//    a whole superblock's addresses, and after the last free nobody comes to take it out.
// Invariant: it ends when what is in use grows again, has become little, or stays as it is for some calls: so a program
//    that works on with less pays for it only for so long.
// Must not know: magazines; what happens then.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/config.hpp"

namespace gr {

// By anyone at any time; what it says is advice, and its atomics are ordered by nothing.
class AddressSaving {
  public:
    // Of what is in use, that it matters; 0: it never does.
    void initialise(std::size_t least) { least_ = least; }

    bool is_on() const { return on_.load(std::memory_order_relaxed); }
    // After a free: whether it begins now, to one caller.
    bool begins(std::size_t in_use) {
        if (least_ == 0 || is_on()) return false;
        const std::size_t most = load(most_);
        if (in_use > most) store(most_, in_use);
        if (most < least_ || in_use > most - most / kAddressSavingFallParts) return false;
        store(lowest_, in_use);
        store(calls_left_, calls_for(most));
        return !on_.exchange(true, std::memory_order_relaxed);
    }
    // Of each call that would cache something: whether it lasts. spanned: the superblocks and runs that hold what is in
    // use, whole.
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
    std::atomic<std::size_t> most_{0};  // in use, since it ended
    std::atomic<std::size_t> lowest_{0};
    std::atomic<std::size_t> calls_left_{0};  // until it ends for want of a fall
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: decides whether calloc writes zeros to memory that the kernel has cleared already. Without that, a page that is
//    read before it is written faults twice, and the second fault stops every CPU that runs the program. But a page
//    that is never used becomes resident.
// Invariant: the bytes written in this way are at most kZeroCreditFirst more than the bytes of calloc's blocks that the
//    program freed before. A program that frees such blocks again and again usually uses them whole, so its resident
//    memory does not grow by this.
// Must not know: what the memory is.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/config.hpp"

namespace gr {

// For any thread. Relaxed, orders nothing: it decides about time and memory, not about contents.
class ZeroCredit {
  public:
    void earn(std::size_t bytes) {
        const std::size_t now = bytes_.load(std::memory_order_relaxed);
        bytes_.store(bytes < kZeroCreditMost - now ? now + bytes : kZeroCreditMost, std::memory_order_relaxed);
    }
    // false: leave the memory as it is.
    bool spend(std::size_t bytes) {
        const std::size_t now = bytes_.load(std::memory_order_relaxed);
        if (now < bytes) return false;
        bytes_.store(now - bytes, std::memory_order_relaxed);
        return true;
    }

  private:
    std::atomic<std::size_t> bytes_{kZeroCreditFirst};
};

}  // namespace gr

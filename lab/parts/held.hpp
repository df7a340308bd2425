// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many bytes an allocator has taken of the kernel for blocks (Hoard 5.4's A): of the wilderness what was handed
//       out, and mappings of one block.
// Invariant: what was purged still counts; tables that are mapped apart do not.
// Must not know: who took them.
#pragma once

#include <atomic>
#include <cstddef>

namespace gr::lab {

class Held {
  public:
    // relaxed: a count alone; nothing is read by it.
    static void took(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    static void gave(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
    static std::size_t bytes() { return bytes_.load(std::memory_order_relaxed); }

  private:
    static inline constinit std::atomic<std::size_t> bytes_{0};
};

}  // namespace gr::lab

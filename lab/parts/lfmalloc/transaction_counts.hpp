// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts how often transactions were interrupted, and how often they went on all the same. Only the counted build
//    does this.
// Invariant: the counters order nothing between threads, and only grow; `continued` are some of `interrupted`.
// Must not know: why a thread was interrupted.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"

namespace gr::lab {

struct TransactionCounts {
    std::atomic<std::uint64_t> interrupted{0};  // relaxed, both: they are read when all is over
    std::atomic<std::uint64_t> continued{0};

    void count_interruption(bool has_continued) {
        if constexpr (!kCounted) return;
        interrupted.fetch_add(1, std::memory_order_relaxed);
        if (has_continued) continued.fetch_add(1, std::memory_order_relaxed);
    }
};
inline constinit TransactionCounts transaction_counts;

}  // namespace gr::lab

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: charts of counts by buckets.hpp: which buckets are worth showing, and their edges.
// Invariant: what is left out is 0.
// Must not know: what is counted.
#pragma once

#include <algorithm>
#include <vector>

#include "reading/trace/event.hpp"
#include "reporting/document/buckets.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

inline constexpr double kSecondsPerUnit = trace::kTimeUnitNanoseconds * 1e-9;

struct BucketRange {
    unsigned first = 0;
    unsigned behind = 0;

    // Of all that counts in any of them.
    void widen(const Counts &counts) {
        for (unsigned i = 0; i < kBuckets; ++i) {
            if (counts[i] == 0) continue;
            if (behind == 0) first = i;
            first = std::min(first, i);
            behind = std::max(behind, i + 1);
        }
    }
    [[nodiscard]] std::vector<double> edges(double unit) const {
        std::vector<double> edges;
        for (unsigned i = first; i <= behind; ++i) edges.push_back(static_cast<double>(begin_of(i)) * unit);
        return edges;
    }
    template <class Row>
    [[nodiscard]] std::vector<double> shown(const Row &row) const {
        return {row.begin() + first, row.begin() + behind};
    }
};

// The edges of all buckets.
[[nodiscard]] inline std::vector<double> all_edges(double unit) { return BucketRange{0, kBuckets}.edges(unit); }

// The smallest number that a share of all do not exceed, by the end of its bucket.
[[nodiscard]] inline double quantile(const Counts &counts, double share, double unit) {
    double whole = 0;
    for (const std::uint64_t count : counts) whole += static_cast<double>(count);
    double sum = 0;
    for (unsigned i = 0; i < kBuckets; ++i) {
        sum += static_cast<double>(counts[i]);
        if (sum >= whole * share && sum > 0) return static_cast<double>(begin_of(i + 1)) * unit;
    }
    return 0;
}

}  // namespace gr::tool

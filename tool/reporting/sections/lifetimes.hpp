// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on how long blocks live: in time, and in the bytes and blocks that were allocated meanwhile.
// Invariant: a block counts when it is freed, in the slice of that moment; one that is never freed lives to the last
//    call. By the time of allocation none is shown that was allocated before the window.
// Must not know: where blocks lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reporting/document/buckets.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Lifetimes {
  public:
    explicit Lifetimes(const Scope &scope)
        : scope_(scope), by_slice_(TimeAxis::kSlices), by_birth_(TimeAxis::kColumns), by_size_(trace::kSizeBuckets) {}

    void born(const Step &step) {
        ++live_;
        live_born_ += static_cast<double>(step.block.born.units);
        last_ = step.time;
    }
    void died(const Step &step) {
        const std::uint64_t age = step.age();
        const unsigned bucket = bucket_of(age);
        ++by_slice_[TimeAxis::slice_of(step.point)][bucket];
        if (scope_.time.has(step.block.born))
            ++by_birth_[TimeAxis::column_of(scope_.time.point_of(step.block.born))][bucket];
        ++by_size_[trace::size_bucket(step.block.size)][bucket];
        ++by_bytes_[bucket_of(step.bytes_born - step.block.bytes_before - step.block.size)];
        ++by_births_[bucket_of(step.births - step.block.number - 1)];
        ++freed_;
        age_sum_ += static_cast<double>(age);
        shortest_ = std::min(shortest_, age);
        longest_ = std::max(longest_, age);
        forget(step);
        last_ = step.time;
    }
    void vanished(const Step &step) { forget(step); }
    void alive(const Step &step) {
        ++live_;
        live_born_ += static_cast<double>(step.block.born.units);
    }
    void begun(const Step &step) { last_ = step.time; }

    [[nodiscard]] Section section() const;

  private:
    using Row = std::array<std::uint32_t, kBuckets>;

    void forget(const Step &step) {
        --live_;
        live_born_ -= static_cast<double>(step.block.born.units);
    }
    [[nodiscard]] Counts total() const;
    [[nodiscard]] BarsChart by_time(const Counts &total) const;
    [[nodiscard]] HeatChart over_time() const;
    [[nodiscard]] HeatChart size_against_lifetime() const;
    [[nodiscard]] TableChart table() const;

    const Scope &scope_;
    std::vector<Row> by_slice_;  // of the free
    std::vector<Row> by_birth_;
    std::vector<Row> by_size_;
    Counts by_bytes_{};
    Counts by_births_{};
    std::uint64_t freed_ = 0;
    std::uint64_t live_ = 0;
    double live_born_ = 0;  // the sum of the births of those alive
    double age_sum_ = 0;
    std::uint64_t shortest_ = UINT64_MAX;
    std::uint64_t longest_ = 0;
    trace::Time last_;
};

}  // namespace gr::tool

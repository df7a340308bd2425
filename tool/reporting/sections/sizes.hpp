// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on the sizes of requests: how many of which size, by whom, when, and what size classes would waste.
// Invariant: every block that was obtained is counted once.
// Must not know: what became of the blocks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/class_sizes.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Sizes {
  public:
    explicit Sizes(const Scope &scope)
        : scope_(scope), by_column_(TimeAxis::kColumns), by_thread_(scope.threads.count()) {}

    void born(const Step &step) {
        const std::uint64_t size = step.block.size;
        const unsigned bucket = trace::size_bucket(size);
        ++by_column_[TimeAxis::column_of(step.point)][bucket];
        ++by_thread_[scope_.threads.of(step.thread)][bucket];
        ++by_op_[trace::number_of(step.op)][bucket];
        bytes_[bucket] += size;
        in_granary_[bucket] += granary_block(size);
        in_powers_[bucket] += power_of_two_block(size);
        if (size < smallest_) smallest_ = size;
        if (size > largest_) largest_ = size;
    }

    [[nodiscard]] Section section() const;

  private:
    using Sizewise = std::array<std::uint64_t, trace::kSizeBuckets>;
    struct Total;

    [[nodiscard]] Total total() const;
    [[nodiscard]] BarsChart by_time(const Total &total) const;
    [[nodiscard]] BarsChart by_thread(const Total &total) const;
    [[nodiscard]] BarsChart by_op(const Total &total) const;
    [[nodiscard]] HeatChart over_time() const;
    [[nodiscard]] TableChart table(const Total &total) const;

    const Scope &scope_;
    std::vector<std::array<std::uint32_t, trace::kSizeBuckets>> by_column_;
    std::vector<Sizewise> by_thread_;
    std::array<Sizewise, trace::number_of(trace::Op::free)> by_op_{};
    Sizewise bytes_{};
    Sizewise in_granary_{};
    Sizewise in_powers_{};
    std::uint64_t smallest_ = UINT64_MAX;
    std::uint64_t largest_ = 0;
};

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on cache lines that hold blocks of different threads: where false sharing can be.
// Invariant: only a block's first and last line can hold another block. A line tells the threads of up to kBlocks
//    blocks in it; more are not told apart. Threads that thread_groups.hpp takes together count as one.
// Must not know: who reads or writes the blocks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reporting/charts/point_series.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/span.hpp"
#include "reporting/steps/sparse_array.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class CacheLines {
  public:
    static constexpr unsigned kLineLog = 6;

    explicit CacheLines(const Scope &scope)
        : scope_(scope), groups_(scope.threads.count()), pairs_(std::size_t{groups_} * groups_) {}

    void born(const Step &step) {
        if (groups_ > 1) change(step, &CacheLines::enter);
    }
    void died(const Step &step) {
        if (groups_ > 1) change(step, &CacheLines::leave);
    }
    void vanished(const Step &step) { died(step); }
    void alive(const Step &step) { born(step); }
    void begun(const Step &step);

    [[nodiscard]] Section section() const;

  private:
    static constexpr std::size_t kBlocks = 8;
    // Of each block in it the group of its thread, and 1; 0: none.
    using Line = std::array<std::uint8_t, kBlocks>;
    struct Pair {
        std::uint64_t now = 0;  // lines that hold blocks of both
        std::uint64_t most = 0;
        std::uint64_t times = 0;  // that a line came to hold blocks of both
    };

    void change(const Step &step, void (CacheLines::*one)(Line &, std::uint8_t)) {
        const auto group = static_cast<std::uint8_t>(scope_.threads.of(step.block.thread) + 1);
        const Span span = span_of(step.block, kLineLog);
        (this->*one)(lines_[span.first], group);
        if (span.last != span.first) (this->*one)(lines_[span.last], group);
        shared_series_.set(step.point, shared_);
    }
    // Most lines hold no other block.
    void enter(Line &line, std::uint8_t group) {
        if (line[0] != 0) return enter_beside(line, group);
        line[0] = group;
    }
    void leave(Line &line, std::uint8_t group) {
        if (line[1] != 0 || line[0] != group) return leave_others(line, group);
        line[0] = 0;
    }
    static bool has(const Line &line, std::uint8_t group);
    void enter_beside(Line &line, std::uint8_t group);
    void leave_others(Line &line, std::uint8_t group);
    // For each other group in the line once.
    template <class Use>
    void with_others(const Line &line, std::uint8_t group, Use use);
    [[nodiscard]] Pair &pair_of(std::uint8_t one, std::uint8_t other);

    const Scope &scope_;
    std::uint32_t groups_;
    SparseArray<Line> lines_;
    std::vector<Pair> pairs_;  // the lower group's row
    std::uint64_t shared_ = 0;
    std::uint64_t most_shared_ = 0;
    std::uint64_t times_ = 0;
    PointSeries shared_series_;
};

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads by which a report's call stacks can be told apart: those that allocated the most, each by itself, and
//    all others together.
// Invariant: at most kMost; none where one thread allocated all. What counts is what stacks tell: estimates where they were
//    sampled.
// Must not know: how threads are shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reporting/steps/stack_totals.hpp"
#include "reporting/steps/thread_groups.hpp"

namespace gr::tool {

class ShownThreads {
  public:
    static constexpr std::size_t kMost = 16;

    ShownThreads(const ThreadGroups &groups, const StackTotals &totals);

    [[nodiscard]] const std::vector<std::string> &names() const { return names_; }
    [[nodiscard]] bool are_told_apart() const { return !names_.empty(); }
    // The number in names() of a group; where threads are not told apart, 0.
    [[nodiscard]] std::uint32_t of(std::uint32_t group) const { return number_of_[group]; }

  private:
    std::vector<std::string> names_;
    std::vector<std::uint32_t> number_of_;  // by group
};

}  // namespace gr::tool

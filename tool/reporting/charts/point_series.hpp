// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a number that changes as time goes on, as the highest that it was in each point of time.
// Invariant: what it was at a point's begin counts for that point, too.
// Must not know: what the number is.
#pragma once

#include <cstdint>
#include <vector>

#include "reporting/steps/time_axis.hpp"

namespace gr::tool {

class PointSeries {
  public:
    void set(std::uint32_t point, std::uint64_t value) {
        if (point != point_) go_to(point);
        now_ = value;
        if (value > highest_[point]) highest_[point] = value;
    }
    [[nodiscard]] std::vector<double> values() const {
        std::vector<double> values(highest_.begin(), highest_.end());
        for (std::uint32_t i = point_ + 1; i < TimeAxis::kPoints; ++i) values[i] = static_cast<double>(now_);
        return values;
    }

  private:
    void go_to(std::uint32_t point) {
        while (point_ < point) highest_[++point_] = now_;
    }

    std::vector<std::uint64_t> highest_ = std::vector<std::uint64_t>(TimeAxis::kPoints);
    std::uint32_t point_ = 0;
    std::uint64_t now_ = 0;
};

}  // namespace gr::tool

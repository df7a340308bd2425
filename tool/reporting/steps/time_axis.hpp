// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the time of a trace, or a window of it, cut into equal points; some of them make a column of a picture, more a
//    slice of the report.
// Invariant: every moment from the first to the last lies in one point; a later moment never in an earlier one. What
//    comes before lies in the first point, what comes behind in the last.
// Must not know: what is counted.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/event.hpp"

namespace gr::tool {

class TimeAxis {
  public:
    static constexpr std::uint32_t kPoints = 1024;
    static constexpr std::uint32_t kColumns = 512;
    static constexpr std::uint32_t kSlices = 128;

    TimeAxis(trace::Time first, trace::Time last) : first_(first.units), units_(last.units - first.units + 1) {
        scale_ = static_cast<double>(kPoints) / static_cast<double>(units_);
    }

    [[nodiscard]] std::uint32_t point_of(trace::Time time) const {
        if (time.units < first_) return 0;
        const auto point = static_cast<std::uint64_t>(static_cast<double>(time.units - first_) * scale_);
        return point < kPoints ? static_cast<std::uint32_t>(point) : kPoints - 1;
    }
    static constexpr std::uint32_t column_of(std::uint32_t point) { return point / (kPoints / kColumns); }
    static constexpr std::uint32_t slice_of(std::uint32_t point) { return point / (kPoints / kSlices); }

    [[nodiscard]] trace::Time first() const { return trace::Time{first_}; }
    [[nodiscard]] trace::Time last() const { return trace::Time{first_ + units_ - 1}; }
    [[nodiscard]] bool has(trace::Time time) const { return first() <= time && time <= last(); }

    // In seconds.
    [[nodiscard]] double length() const { return trace::seconds(trace::Time{units_}); }
    [[nodiscard]] double begin_of(std::uint32_t part, std::uint32_t parts) const {
        return trace::seconds(first()) + length() * part / parts;
    }
    [[nodiscard]] std::vector<double> ends() const { return edges(1); }
    [[nodiscard]] std::vector<double> edges(std::uint32_t parts) const {
        std::vector<double> edges(parts + 1);
        for (std::uint32_t i = 0; i <= parts; ++i) edges[i] = begin_of(i, parts);
        return edges;
    }
    // Where each point ends: a series has there what is so at its end.
    [[nodiscard]] std::vector<double> point_ends() const {
        std::vector<double> ends = edges(kPoints);
        ends.erase(ends.begin());
        return ends;
    }
    // Of counts in each point, how many a second.
    [[nodiscard]] std::vector<double> rates(const std::vector<std::uint32_t> &counts) const {
        const double width = length() / kPoints;
        std::vector<double> rates;
        rates.reserve(counts.size());
        for (const std::uint32_t count : counts) rates.push_back(count / width);
        return rates;
    }

  private:
    std::uint64_t first_;
    std::uint64_t units_;
    double scale_ = 0;
};

}  // namespace gr::tool

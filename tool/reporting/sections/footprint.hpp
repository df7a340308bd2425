// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on how much is in use: bytes and blocks over time and at their peaks, beside what the process has
//    resident.
// Invariant: bytes are those asked for. The peaks are exact. The mean is that from the first change to the last, of a
//    window from its begin to its end.
// Must not know: where blocks lie.
#pragma once

#include <cstdint>

#include "reporting/charts/point_series.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Footprint {
  public:
    explicit Footprint(const Scope &scope) : scope_(scope) {}

    void born(const Step &step) {
        change(step, step.block.size, 1);
        if (bytes_.now > bytes_.peak) bytes_.reach(step.time);
        if (blocks_.now > blocks_.peak) blocks_.reach(step.time);
    }
    void died(const Step &step) { change(step, 0 - step.block.size, UINT64_MAX); }
    void vanished(const Step &step) { died(step); }
    void alive(const Step &step) {
        bytes_.now += step.block.size;
        ++blocks_.now;
    }
    void begun(const Step &step) {
        first_ = last_ = step.time;
        has_first_ = true;
        has_begun_ = blocks_.now != 0;
        bytes_at_begin_ = bytes_.now;
        for (Level *const level : {&bytes_, &blocks_}) {
            level->reach(step.time);
            level->change(0, 0, step.point);
        }
    }

    [[nodiscard]] Section section() const;

  private:
    struct Level {
        std::uint64_t now = 0;
        std::uint64_t peak = 0;
        trace::Time peak_time;
        double sum = 0;  // over time units
        PointSeries series;

        void reach(trace::Time time) {
            peak = now;
            peak_time = time;
        }
        // Of that time, of which so much has gone by behind the last change.
        [[nodiscard]] double mean(std::uint64_t passed, std::uint64_t behind) const;
        void change(std::uint64_t difference, std::uint64_t passed, std::uint32_t point) {
            sum += static_cast<double>(now) * static_cast<double>(passed);
            now += difference;
            series.set(point, now);
        }
    };

    void change(const Step &step, std::uint64_t bytes, std::uint64_t blocks) {
        if (!has_first_) first_ = last_ = step.time;
        has_first_ = has_begun_ = true;
        const std::uint64_t passed = step.time.units - last_.units;
        last_ = step.time;
        bytes_.change(bytes, passed, step.point);
        blocks_.change(blocks, passed, step.point);
    }
    [[nodiscard]] SeriesChart bytes_over_time() const;
    [[nodiscard]] SeriesChart change_over_time() const;
    [[nodiscard]] SeriesChart blocks_over_time() const;
    [[nodiscard]] TableChart table() const;

    const Scope &scope_;
    Level bytes_;
    Level blocks_;
    std::uint64_t bytes_at_begin_ = 0;
    bool has_begun_ = false;  // anything was ever in use
    bool has_first_ = false;
    trace::Time first_;
    trace::Time last_;
};

}  // namespace gr::tool

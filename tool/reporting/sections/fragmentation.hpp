// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on fragmentation: how much of the pages that hold blocks is in use, and how much is held for it.
// Invariant: a page counts while any byte of it belongs to a block in use. Blocks in use overlap in no page but their
//    first and last, so only these are counted one by one.
// Must not know: who allocated.
#pragma once

#include <bit>
#include <cstdint>

#include "reporting/charts/point_series.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/span.hpp"
#include "reporting/steps/sparse_array.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Fragmentation {
  public:
    explicit Fragmentation(const Scope &scope)
        : scope_(scope), page_log_(static_cast<unsigned>(std::bit_width(scope.page_bytes())) - 1) {}

    void born(const Step &step) {
        alive(step);
        note(step);
    }
    void alive(const Step &step) {
        live_ += step.block.size;
        const Span span = span_of(step.block, page_log_);
        if (blocks_in_[span.first]++ == 0) ++pages_;
        if (span.last != span.first) {
            if (blocks_in_[span.last]++ == 0) ++pages_;
            pages_ += span.count() - 2;
        }
    }
    void begun(const Step &step) { note(step); }
    void died(const Step &step) {
        live_ -= step.block.size;
        const Span span = span_of(step.block, page_log_);
        if (--blocks_in_[span.first] == 0) --pages_;
        if (span.last != span.first) {
            if (--blocks_in_[span.last] == 0) --pages_;
            pages_ -= span.count() - 2;
        }
        note(step);
    }
    void vanished(const Step &step) { died(step); }

    [[nodiscard]] Section section() const;

  private:
    struct Moment {
        trace::Time time;
        std::uint64_t live = 0;
        std::uint64_t pages = 0;
    };

    void note(const Step &step) {
        live_series_.set(step.point, live_);
        page_series_.set(step.point, pages_);
        if (pages_ > most_pages_.pages) most_pages_ = {step.time, live_, pages_};
        if (live_ > most_live_.live) most_live_ = {step.time, live_, pages_};
    }
    [[nodiscard]] double bytes_of(const Moment &moment) const {
        return static_cast<double>(moment.pages) * static_cast<double>(scope_.page_bytes());
    }
    [[nodiscard]] std::vector<double> page_bytes_over_time() const;
    [[nodiscard]] SeriesChart bytes_over_time() const;
    [[nodiscard]] SeriesChart shares_over_time() const;
    [[nodiscard]] TableChart table() const;

    const Scope &scope_;
    unsigned page_log_;
    SparseArray<std::uint32_t> blocks_in_;
    std::uint64_t live_ = 0;
    std::uint64_t pages_ = 0;
    PointSeries live_series_;
    PointSeries page_series_;
    Moment most_pages_;
    Moment most_live_;
};

}  // namespace gr::tool

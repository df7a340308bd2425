// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what each stack of calls allocated, what is live now, and what was live when most bytes were live (the peak).
// Invariant: a thread that changes the sums holds the owner's lock. `changes` is odd meanwhile, for readers outside the
//    process. A site that did not change since the peak has its peak sum in `live`, so a new peak changes one number.
// Must not know: how stacks are taken; what is done with the sums.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/config.hpp"
#include "profile/estimate.hpp"
#include "profile/stacks.hpp"

namespace gr {

struct Site {
    Estimate allocated;
    Estimate live;
    Estimate peak;            // the sum at peak number peak_seen
    std::uint64_t peak_seen;  // the number of peaks before the site's last change
    std::uint64_t stack;      // a StackNumber
};

class Sites {
  public:
    // Sums over the whole program, and numbers that exist once.
    struct Totals {
        Estimate allocated;
        Estimate live;
        Estimate peak;
        std::uint64_t peaks = 0;      // the number of peaks so far
        std::uint64_t peak_time = 0;  // time of the last peak by the owner's clock
        std::uint64_t count = 1;      // the number of sites; the first is for blocks without a stack
    };

    constexpr Sites() = default;

    // false: no memory now; the caller may try again.
    bool initialise();
    // Sets all sums to 0. Each site keeps its stack.
    void reset();

    // The site of a stack with this ordinal (Stacks::ordinal). 0, the site without a stack, if there are too many.
    std::uint32_t at(std::uint32_t ordinal, StackNumber stack);
    void allocated(std::uint32_t site, const Estimate &estimate, std::uint64_t now);
    void freed(std::uint32_t site, const Estimate &estimate);

    const Site &site(std::size_t i) const { return sites_[i]; }
    const Estimate &at_peak(const Site &s) const { return s.peak_seen == totals_.peaks ? s.peak : s.live; }
    const Totals &totals() const { return totals_; }
    const Site *all() const { return sites_; }
    const std::atomic<std::uint64_t> *changes_cell() const { return &changes_; }

  private:
    class Change;
    void see_peak(Site &s) const;

    Site *sites_ = nullptr;
    Totals totals_;
    std::atomic<std::uint64_t> changes_{0};
};

}  // namespace gr

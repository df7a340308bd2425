// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what each stack of calls allocated, has live now, and had live when most bytes were.
// Invariant: who changes it holds one lock, its owner's; `changes` is odd meanwhile, for who reads from outside. A sum
//    that did not change since the peak is its own sum at the peak, so a new peak costs one number.
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
    Estimate peak;            // as of the peak that it last saw
    std::uint64_t peak_seen;  // the number of that
    std::uint64_t stack;      // a StackNumber
};

class Sites {
  public:
    // Of the whole program, and what else there is one of.
    struct Totals {
        Estimate allocated;
        Estimate live;
        Estimate peak;
        std::uint64_t peaks = 0;      // how many there were
        std::uint64_t peak_time = 0;  // of the clock that the owner reads
        std::uint64_t count = 1;      // of sites; the first is of blocks without a stack
    };

    constexpr Sites() = default;

    // false: no memory, as of now.
    bool initialise();
    // All sums are none again; each site stays its stack's.
    void reset();

    // Of the stack, as it was numbered in its turn.
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

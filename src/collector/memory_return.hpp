// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the memory that a collection returns: dead runs, empty superblocks, pages of superblocks that rest, marks of
//    units that hold nothing, segments of the worklist.
// Invariant: what the program will take before the next collection stays, counted over all kinds.
// Must not know: how objects were marked and swept.
#pragma once

#include "collector/markers.hpp"
#include "collector/sweep_phase.hpp"

namespace gr {

class MemoryReturn {
  public:
    constexpr MemoryReturn(const Kinds &kinds, SweepPhase &swept, Markers &markers, const Roots &roots,
                           const Pace &pace)
        : kinds_(kinds), swept_(swept), markers_(markers), roots_(roots), pace_(pace) {}
    MemoryReturn(const MemoryReturn &) = delete;
    MemoryReturn &operator=(const MemoryReturn &) = delete;

    // Empty memory that may stay in each kind, unless the environment says: the next collection is not far.
    static constexpr std::size_t kRetain = 4 * kMiB;

    // Once, before any collection. Whether the pace decides how much empty memory may stay, and not the environment.
    void set_retains_by_pace(bool wanted) { retains_by_pace_ = wanted; }
    const bool &retains_by_pace_cell() const { return retains_by_pace_; }

    // At the end of a stop. Marks take as much memory as the heap did at its peak; what the next collection needs again
    // stays.
    void return_marks(const CollectionReport &report);
    // After a stop, with no lock held but the collector's. After a collection that was due, what the program will take
    // before the next one stays. A program that asked for a collection wants memory back: then only what it took again
    // lately stays for reuse.
    void settle(const CollectionReport &report);

  private:
    void permit(Kind &kind, std::size_t may_stay) const;
    std::size_t settle(Kind &kind, std::size_t may_stay, bool is_due) const;

    const Kinds &kinds_;
    SweepPhase &swept_;
    Markers &markers_;
    const Roots &roots_;
    const Pace &pace_;
    bool retains_by_pace_ = false;
    std::size_t most_held_ = 0;  // bytes, by a collection since marks were returned
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the superblocks lie that a heap gave up lately. The caches of that heap's CPU still hold lines of them,
//    and another CPU would fetch each line from there. So the heap takes these units again first.
// Invariant: at most kRecentUnits entries. Each is a hint: its units may have any other user by now.
// Must not know: heaps, and whether units are free.
#pragma once

#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

// Under the heap's lock. Zeroed memory is a valid object without entries.
class RecentUnits {
  public:
    // The oldest entry is forgotten if there are too many.
    void note(UnitIndex first) {
        units_[next_++ % kRecentUnits] = first;
        if (count_ != kRecentUnits) ++count_;
    }

    // Removes the latest entry. false: there is none.
    bool take_latest(UnitIndex *first) {
        if (count_ == 0) return false;
        --count_;
        *first = units_[--next_ % kRecentUnits];
        return true;
    }

    // Finds the latest entry that is_wanted(unit) accepts. false: there is none.
    template <class Wanted>
    bool find(Wanted is_wanted, UnitIndex *first) const {
        for (std::uint32_t i = 1; i <= count_; ++i) {
            const UnitIndex u = units_[(next_ - i) % kRecentUnits];
            if (!is_wanted(u)) continue;
            *first = u;
            return true;
        }
        return false;
    }

  private:
    static_assert((kRecentUnits & (kRecentUnits - 1)) == 0, "next_ may overflow, so kRecentUnits is a power of two");

    UnitIndex units_[kRecentUnits];
    std::uint32_t next_;
    std::uint32_t count_;
};

}  // namespace gr

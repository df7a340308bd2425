// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much memory that holds nothing may stay resident: a share of what is in use, but not less than so many
//       bytes. A program earns more of both by soon taking again what was given back, and loses it when it stops.
// Invariant: kLeastAllowance <= share <= kMostRunAllowance, in parts of kAllowanceParts; `least` belongs to the least.
// Must not know: what the memory was; how it is given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"

namespace gr {

// By anyone at any time: what it says is advice, so its atomics are ordered by nothing, and a judgement that two make at
// once may forget something.
class Allowance {
  public:
    void initialise(std::size_t least) { least_ = least < kMostLeast ? least : kMostLeast; }

    // Of empty units.
    std::size_t unit_bytes(std::size_t in_use) const { return larger(part(in_use, load(share_)), least(load(share_))); }
    // Of free pages in other units. In a large heap these lie everywhere and most are not taken again, whatever the
    // program does: only the number of bytes widens, not the share.
    std::size_t page_bytes(std::size_t in_use) const {
        return larger(part(in_use, kLeastAllowance), least(load(share_)));
    }
    // Of either, without regret.
    std::size_t least_bytes(std::size_t in_use) const {
        return larger(part(in_use, kLeastAllowance), least(kLeastAllowance));
    }

    // Before memory is given back because it is more than may stay. What went before the last `window` bytes or two is
    // forgotten by and by.
    void judge(std::size_t window) {
        const unsigned share = load(share_);
        const unsigned most = load(retaken_by_runs_) > load(retaken_) / 2 ? kMostRunAllowance : kMostAllowance;
        if (load(retaken_) > load(given_back_) / 2) {
            store(share_, at_most(most, share * 2));
        } else if (load(retaken_) < load(given_back_) / 4) {
            store(share_, share / 2 > kLeastAllowance ? share / 2 : kLeastAllowance);
        }
        if (load(given_back_) <= window) return;
        store(retaken_, load(retaken_) / 2);
        store(retaken_by_runs_, load(retaken_by_runs_) / 2);
        store(given_back_, load(given_back_) / 2);
    }
    void gave_back(std::size_t bytes) { given_back_.fetch_add(bytes, std::memory_order_relaxed); }
    // What had been given back is in use again.
    void retook(std::size_t bytes) { retaken_.fetch_add(bytes, std::memory_order_relaxed); }
    // By a run that is longer than any superblock.
    void retook_by_run(std::size_t bytes) {
        retook(bytes);
        retaken_by_runs_.fetch_add(bytes, std::memory_order_relaxed);
    }

  private:
    static constexpr std::size_t kMostLeast = SIZE_MAX / kMostAllowance;

    static unsigned at_most(unsigned most, unsigned share) { return share < most ? share : most; }
    static std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }
    static std::size_t part(std::size_t in_use, unsigned share) { return in_use / kAllowanceParts * share; }
    std::size_t least(unsigned share) const { return least_ * at_most(kMostAllowance, share) / kLeastAllowance; }

    template <class T>
    static T load(const std::atomic<T> &value) {
        return value.load(std::memory_order_relaxed);
    }
    template <class T>
    static void store(std::atomic<T> &value, T to) {
        value.store(to, std::memory_order_relaxed);
    }

    std::size_t least_ = 0;
    std::atomic<unsigned> share_{kLeastAllowance};
    std::atomic<std::size_t> given_back_{0};
    std::atomic<std::size_t> retaken_{0};
    std::atomic<std::size_t> retaken_by_runs_{0};  // of it
};

}  // namespace gr

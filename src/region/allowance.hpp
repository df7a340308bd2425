// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much empty memory may stay resident: the larger of a minimum and a share of the memory in use, plus the
//    reuse allowance (`earned`). Each byte that is faulted in again soon after it was returned to the OS raises the
//    reuse allowance by one byte, and the allowance falls with time.
// Invariant: earned <= most_earned. The allowance falls so fast that faulting all of it in again costs one part in
//    kRetakeTimeParts of the time in which it fell, and at the end of each window to what went up and down within it:
//    memory that nobody took in a whole window is not kept for reuse. Empty units may use the allowance only while the
//    memory in use and they together stay below its peak plus one part in kPeakSlackParts.
// Must not know: what the memory was; how it is given back; where the time comes from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "region/swing.hpp"

namespace gr {

// By anyone at any time: what it says is advice, so its atomics are ordered by nothing, and what two do at once may
// forget something.
class Allowance {
  public:
    // With a least of nothing nothing is earned.
    void initialise(std::size_t least, std::size_t most_earned) {
        set_least(least);
        most_earned_.store(least == 0 ? 0 : most_earned, std::memory_order_relaxed);
    }
    // Changes both bounds at any time. What was earned beyond the new bound is lost.
    void change(std::size_t least, std::size_t most_earned) {
        initialise(least, most_earned);
        const std::size_t most = load(most_earned_);
        if (change_earned([most](std::size_t now) { return now < most ? now : most; }) == 0)
            earned_since_.store(0, std::memory_order_relaxed);
    }

    void set_least(std::size_t bytes) { least_.store(bytes, std::memory_order_relaxed); }

    // Without regret.
    std::size_t base(std::size_t present) const { return larger(load(least_), present / kAllowanceParts); }
    // Of free pages in units that are used.
    std::size_t page_bytes(std::size_t present) const { return sum(base(present), earned()); }
    // Of empty units, when so much else is held.
    std::size_t unit_bytes(std::size_t present, std::size_t in_use) const {
        if (earned() == 0) return base(present);
        const std::size_t peak = load(peak_in_use_);
        const std::size_t most = peak + peak / kPeakSlackParts;
        const std::size_t room = most > in_use ? most - in_use : 0;
        const std::size_t wanted = page_bytes(present);
        return wanted < room ? wanted : larger(room, base(present));
    }

    std::size_t earned() const { return load(earned_); }
    // Since when something is: a time that pass() was told; 0: not yet.
    std::uint64_t earned_since() const { return load(earned_since_); }
    const std::atomic<std::size_t> *earned_cell() const { return &earned_; }
    const std::atomic<std::uint64_t> *earned_since_cell() const { return &earned_since_; }

    // What is held and not empty.
    void note_in_use(std::size_t bytes) {
        if (load(peak_in_use_) < bytes) peak_in_use_.store(bytes, std::memory_order_relaxed);
    }
    // What is empty now, of units and of pages in used units.
    void note_units(std::size_t bytes) { units_.note(bytes); }
    void note_pages(std::size_t bytes) { pages_.note(bytes); }
    // What had been returned for so many nanoseconds is in use again.
    void retook(std::size_t bytes, std::uint64_t away) {
        if (away > kReuseNanoseconds) return;
        const std::size_t most = load(most_earned_);
        change_earned([=](std::size_t now) { return now < most && bytes < most - now ? now + bytes : most; });
    }
    // The time is now so much. true: some was taken away.
    bool pass(std::uint64_t now) {
        std::uint64_t before = load(passed_);
        if (now < before + kReviewNanoseconds ||
            !passed_.compare_exchange_strong(before, now, std::memory_order_relaxed))
            return false;
        if (load(earned_since_) == 0) {
            earned_since_.store(now, std::memory_order_relaxed);  // before it nothing was there to be lost
            begin_window(now);
            return false;
        }
        const std::uint64_t bytes = (now - before) / (kRetakeNanosecondsPerKiB * kRetakeTimeParts) * kKiB;
        std::size_t most = SIZE_MAX;
        if (now >= load(window_began_) + kReuseWindowNanoseconds) {
            most = sum(units_.height(), pages_.height());
            begin_window(now);
        }
        const auto left = [bytes, most](std::size_t earned) {
            const std::size_t rest = bytes < earned ? earned - bytes : 0;
            return rest < most ? rest : most;
        };
        if (change_earned(left) == 0) earned_since_.store(0, std::memory_order_relaxed);
        return true;
    }

  private:
    static constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }
    static constexpr std::size_t sum(std::size_t a, std::size_t b) { return b < SIZE_MAX - a ? a + b : SIZE_MAX; }
    template <class T>
    static T load(const std::atomic<T> &value) {
        return value.load(std::memory_order_relaxed);
    }
    void begin_window(std::uint64_t now) {
        window_began_.store(now, std::memory_order_relaxed);
        units_.restart();
        pages_.restart();
    }
    // To what it is changed.
    template <class Function>
    std::size_t change_earned(Function to) {
        std::size_t now = earned();
        while (!earned_.compare_exchange_weak(now, to(now), std::memory_order_relaxed)) {
        }
        return to(now);
    }

    std::atomic<std::size_t> least_{0};
    std::atomic<std::size_t> most_earned_{0};
    std::atomic<std::size_t> peak_in_use_{0};
    std::atomic<std::size_t> earned_{0};
    std::atomic<std::uint64_t> earned_since_{0};
    std::atomic<std::uint64_t> passed_{0};  // until when time was taken into account
    std::atomic<std::uint64_t> window_began_{0};
    Swing units_;
    Swing pages_;
};

}  // namespace gr

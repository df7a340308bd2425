// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much empty memory may stay resident: the larger of a minimum and a share of the memory in use, plus the
//    reuse allowance (`earned`). Each byte that is faulted in again soon after it was returned to the OS raises the
//    reuse allowance by one byte, and the allowance falls with time.
// Invariant: earned <= most_earned. The reuse allowance falls so fast that faulting all of the loss in again costs one
//    part in kRetakeTimeParts of the time in which it fell. After each window the reuse allowance is at most what was
//    taken and freed again within that window. Empty units may use the reuse allowance only while these units and the
//    memory in use together stay below the peak of the memory in use plus one part in kPeakSlackParts.
// Must not know: what the memory was; how it returns to the OS; where the time comes from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "region/swing.hpp"

namespace gr {

// Any thread may call any function at any time. The answers are advice, so all atomics are relaxed, and an update may
// be lost when two threads write at once.
class Allowance {
  public:
    // least: the minimum, in bytes. A minimum of 0 also turns the reuse allowance off.
    void initialise(std::size_t least, std::size_t most_earned) {
        set_least(least);
        most_earned_.store(least == 0 ? 0 : most_earned, std::memory_order_relaxed);
    }
    // Changes both bounds. What was earned beyond the new bound is lost.
    void change(std::size_t least, std::size_t most_earned) {
        initialise(least, most_earned);
        const std::size_t most = load(most_earned_);
        if (change_earned([most](std::size_t now) { return now < most ? now : most; }) == 0)
            earned_since_.store(0, std::memory_order_relaxed);
    }

    // Changes the maximum of the reuse allowance, unless an option has set another one than the default.
    void change_default_maximum(std::size_t most_earned) {
        if (load(most_earned_) == kReuseBytes) change(load(least_), most_earned);
    }

    void set_least(std::size_t bytes) { least_.store(bytes, std::memory_order_relaxed); }

    // The allowance without the reuse allowance. present: bytes in use that may be resident.
    std::size_t base(std::size_t present) const { return larger(load(least_), present / kAllowanceParts); }
    // The allowance for free pages in used units.
    std::size_t page_bytes(std::size_t present) const { return sum(base(present), earned()); }
    // The allowance for empty units while the memory held, without empty units, is in_use bytes.
    std::size_t unit_bytes(std::size_t present, std::size_t in_use) const {
        if (earned() == 0) return base(present);
        const std::size_t peak = load(peak_in_use_);
        const std::size_t most = peak + peak / kPeakSlackParts;
        const std::size_t room = most > in_use ? most - in_use : 0;
        const std::size_t wanted = page_bytes(present);
        return wanted < room ? wanted : larger(room, base(present));
    }

    std::size_t earned() const { return load(earned_); }
    // A time that pass() was told, since which something has been earned. 0: there is none yet.
    std::uint64_t earned_since() const { return load(earned_since_); }
    const std::atomic<std::size_t> *earned_cell() const { return &earned_; }
    const std::atomic<std::uint64_t> *earned_since_cell() const { return &earned_since_; }

    // bytes: the memory held, without empty units.
    void note_in_use(std::size_t bytes) {
        if (load(peak_in_use_) < bytes) peak_in_use_.store(bytes, std::memory_order_relaxed);
    }
    // bytes: empty units now; free pages in used units now.
    void note_units(std::size_t bytes) { units_.note(bytes); }
    void note_pages(std::size_t bytes) { pages_.note(bytes); }
    // Memory that was returned to the OS `away` nanoseconds ago is in use again.
    void retook(std::size_t bytes, std::uint64_t away) {
        if (away > kReuseNanoseconds) return;
        const std::size_t most = load(most_earned_);
        change_earned([=](std::size_t now) { return now < most && bytes < most - now ? now + bytes : most; });
    }
    // Lowers the reuse allowance for the time since the last review, if a review is due. true: it may have fallen.
    bool pass(std::uint64_t now) {
        std::uint64_t before = load(passed_);
        if (now < before + kReviewNanoseconds ||
            !passed_.compare_exchange_strong(before, now, std::memory_order_relaxed))
            return false;
        if (load(earned_since_) == 0) {
            earned_since_.store(now, std::memory_order_relaxed);  // before this time nothing could be lost
            begin_window(now);
            return false;
        }
        const std::uint64_t bytes = (now - before) / (kRetakeNanosecondsPerKiB * kRetakeTimeParts) * kKiB;
        lower(bytes, now >= load(window_began_) + kReuseWindowNanoseconds ? end_window(now) : SIZE_MAX);
        return true;
    }
    // The program asks for its empty memory to be returned: the window ends now, unless it is so young that memory which
    // was freed in it may still be taken again soon.
    void end_window_early(std::uint64_t now) {
        if (earned() != 0 && now > load(window_began_) + kReuseNanoseconds) lower(0, end_window(now));
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
    // Returns what was taken and freed again within the window.
    std::size_t end_window(std::uint64_t now) {
        const std::size_t most = sum(units_.height(), pages_.height());
        begin_window(now);
        return most;
    }
    // Takes so many bytes from the reuse allowance, and leaves at most `most`.
    void lower(std::size_t bytes, std::size_t most) {
        const auto left = [bytes, most](std::size_t earned) {
            const std::size_t rest = bytes < earned ? earned - bytes : 0;
            return rest < most ? rest : most;
        };
        if (change_earned(left) == 0) earned_since_.store(0, std::memory_order_relaxed);
    }
    // Returns the new value.
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
    std::atomic<std::uint64_t> passed_{0};  // the time of the last review
    std::atomic<std::uint64_t> window_began_{0};
    Swing units_;
    Swing pages_;
};

}  // namespace gr

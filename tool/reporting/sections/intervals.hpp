// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on how much time passes from one request to the next: of all, allocations, frees, and of a thread.
// Invariant: of each kind the first request has no interval.
// Must not know: what was requested.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "reporting/document/buckets.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Intervals {
  public:
    explicit Intervals(const Scope &scope) : by_thread_(scope.trace.threads().size(), kNever) {}

    void called(const Step &step) {
        const std::uint64_t time = step.time.units;
        kinds_[kAll].take(time);
        kinds_[step.obtains() ? kAllocations : kFrees].take(time);
        std::uint64_t &before = by_thread_[trace::number_of(step.thread)];
        if (before != kNever) kinds_[kOfThread].count(time - before);
        before = time;
    }

    [[nodiscard]] Section section() const;

  private:
    static constexpr std::uint64_t kNever = UINT64_MAX;
    enum Which : std::uint8_t { kAll, kAllocations, kFrees, kOfThread, kKinds };

    struct Kind {
        Counts counts{};
        std::uint64_t intervals = 0;
        std::uint64_t sum = 0;
        std::uint64_t shortest = UINT64_MAX;
        std::uint64_t longest = 0;
        std::uint64_t last = kNever;

        void take(std::uint64_t time) {
            if (last != kNever) count(time - last);
            last = time;
        }
        void count(std::uint64_t interval) {
            ++counts[bucket_of(interval)];
            ++intervals;
            sum += interval;
            shortest = std::min(shortest, interval);
            longest = std::max(longest, interval);
        }
    };

    std::array<Kind, kKinds> kinds_;
    std::vector<std::uint64_t> by_thread_;
};

}  // namespace gr::tool

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on how often the program calls its allocator, and what share of its time that takes.
// Invariant: time in calls is the mean of those that were timed, less what reading the clock takes, for all calls.
//    Calls of more than kSlice are no part of the mean, and are told apart. A share of the CPU time is one of the
//    program's own, without what the recording took.
// Must not know: where blocks lie.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reporting/document/buckets.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Statistics {
  public:
    explicit Statistics(const Scope &scope) : scope_(scope), obtained_(TimeAxis::kPoints), freed_(TimeAxis::kPoints) {}

    void event(const Step &step) {
        ++calls_[trace::number_of(step.op)];
        ++kinds_[static_cast<unsigned>(step.kind)];
        if (step.kind == StepKind::of_pages) return;
        if (last_ < step.time) last_ = step.time;
        if (!has_begun_) first_ = step.time;
        has_begun_ = true;
        ++(step.obtains() ? obtained_ : freed_)[step.point];
        if (step.nanoseconds != 0) time(step);
        if (step.kind == StepKind::born && step.block.stack != trace::StackNumber::none) ++stacks_;
    }

    [[nodiscard]] Section section() const;

  private:
    static constexpr unsigned kOps = 64;
    // The kernel lets another thread run for about so long: a longer call was most likely interrupted, and would be taken
    // for a thousand like it.
    static constexpr std::uint64_t kSlice = 1'000'000;
    struct Timed {
        std::uint64_t calls = 0;  // without the long ones
        std::uint64_t nanoseconds = 0;
        double squares = 0;  // of the nanoseconds
        std::uint64_t long_calls = 0;
        std::uint64_t long_nanoseconds = 0;
        Counts counts{};  // of both

        [[nodiscard]] double below(double share) const;
    };

    void time(const Step &step) {
        Timed &timed = timed_[trace::number_of(step.op)];
        const bool is_long = step.nanoseconds > kSlice;
        ++(is_long ? timed.long_calls : timed.calls);
        (is_long ? timed.long_nanoseconds : timed.nanoseconds) += step.nanoseconds;
        if (!is_long) timed.squares += static_cast<double>(step.nanoseconds) * static_cast<double>(step.nanoseconds);
        ++timed.counts[bucket_of(step.nanoseconds)];
    }
    [[nodiscard]] double kind(StepKind kind) const { return static_cast<double>(kinds_[static_cast<unsigned>(kind)]); }
    // In seconds: all calls of that operation; not a number where no mean is known.
    [[nodiscard]] double time_in(unsigned op) const;
    [[nodiscard]] double time_in_all() const;
    // The standard error of time_in_all: what chance did by the choice of the calls that were timed.
    [[nodiscard]] double error_in_all() const;
    [[nodiscard]] bool is_time_uncertain() const;
    [[nodiscard]] Timed timed_in_all() const;
    // What the recording took in the program, an estimate: it read the clock for each event, and took stacks.
    [[nodiscard]] double recording_seconds() const;
    // The program's own, an estimate: never less than the time in calls, if that is less than all; 0: not known.
    [[nodiscard]] double own_processor_seconds() const;
    [[nodiscard]] std::string time_answer() const;
    [[nodiscard]] std::string long_answer() const;
    [[nodiscard]] SeriesChart rates() const;
    [[nodiscard]] SeriesChart processor() const;
    [[nodiscard]] TableChart table() const;
    [[nodiscard]] TableChart whole() const;
    [[nodiscard]] BarsChart call_times() const;

    const Scope &scope_;
    std::vector<std::uint32_t> obtained_;
    std::vector<std::uint32_t> freed_;
    std::array<std::uint64_t, kOps> calls_{};
    std::array<std::uint64_t, 8> kinds_{};
    std::array<Timed, kOps> timed_{};
    std::uint64_t stacks_ = 0;
    bool has_begun_ = false;
    trace::Time first_;
    trace::Time last_;
};

}  // namespace gr::tool

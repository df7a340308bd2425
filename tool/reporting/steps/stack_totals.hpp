// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: by call stack, and by the thread that allocated: what was allocated, when; what is in use; and what was in use when
//    most bytes were.
// Invariant: where stacks were sampled, a block counts for as many as it stands for, and sums are told as whole numbers; else one without a stack is stack
//    0's. A stack's numbers at the peak are those of now until the stack or the peak changes, so that neither costs
//    more than a step. A stack's numbers are the sums of its threads'.
// Must not know: what a stack is called.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

struct StackSum {
    double bytes = 0;
    double blocks = 0;

    void add(double new_bytes, double new_blocks) {
        bytes += new_bytes;
        blocks += new_blocks;
    }
    void add(const StackSum &other) { add(other.bytes, other.blocks); }
    // There are no parts of blocks; and what differences leave of nothing is 0, not -0.
    [[nodiscard]] StackSum rounded() const { return {std::round(bytes) + 0.0, std::round(blocks) + 0.0}; }
};

class StackTotals {
  public:
    struct Part {
        std::uint32_t slice = 0;
        StackSum sum;
    };
    // What one group of threads (ThreadGroups) allocated through a stack.
    struct Share {
        std::uint32_t group = 0;
        StackSum at_peak;
        StackSum at_end;
        std::vector<Part> parts;
        std::vector<Part> changes;
    };

    explicit StackTotals(const Scope &scope)
        : scope_(scope),
          takes_unknown_(scope.trace.start().stacks != trace::Stacks::sampled),
          stacks_(scope.trace.stacks().size()) {}

    void born(const Step &step) {
        live_ += step.block.size;
        if (counts(step.block)) {
            Stack &stack = changed(step.block);
            const double blocks = scope_.blocks_stood_for(step.block.size);
            const double bytes = blocks * static_cast<double>(step.block.size);
            stack.live.add(bytes, blocks);
            add_to(&stack.parts, step, bytes, blocks);
            add_to(&stack.changes, step, bytes, blocks);
        }
        if (live_ > peak_) reach(step.time);
    }
    void died(const Step &step) {
        live_ -= step.block.size;
        if (!counts(step.block)) return;
        add_live(step, -scope_.blocks_stood_for(step.block.size));
    }
    void vanished(const Step &step) { died(step); }
    void alive(const Step &step) {
        live_ += step.block.size;
        if (!counts(step.block)) return;
        add_live(step, scope_.blocks_stood_for(step.block.size));
    }
    void begun(const Step &step) { reach(step.time); }

    [[nodiscard]] std::size_t count() const { return stacks_.size(); }
    // What was allocated in each slice.
    [[nodiscard]] std::vector<Part> parts(std::size_t stack) const { return merged(stack, &Stack::parts); }
    // By how much what is in use changed in each slice; what was in use before all belongs to the first.
    [[nodiscard]] std::vector<Part> changes(std::size_t stack) const { return merged(stack, &Stack::changes); }
    [[nodiscard]] StackSum at_end(std::size_t stack) const {
        StackSum sum;
        for (const Stack *one = &stacks_[stack]; one != nullptr; one = next(*one)) sum.add(one->live.rounded());
        return sum;
    }
    [[nodiscard]] StackSum at_peak(std::size_t stack) const {
        StackSum sum;
        for (const Stack *one = &stacks_[stack]; one != nullptr; one = next(*one)) sum.add(peak_of(*one));
        return sum;
    }
    // In no order.
    [[nodiscard]] std::vector<Share> shares(std::size_t stack) const {
        std::vector<Share> shares;
        for (const Stack *one = &stacks_[stack]; one != nullptr; one = next(*one)) {
            if (one->group == kNoGroup) continue;
            shares.push_back(
                {one->group, peak_of(*one), one->live.rounded(), rounded(one->parts), rounded(one->changes)});
        }
        return shares;
    }
    [[nodiscard]] trace::Time peak_time() const { return peak_time_; }

  private:
    static constexpr std::uint8_t kNoGroup = UINT8_MAX;
    static_assert(ThreadGroups::kMost <= kNoGroup, "a group has a number that no other has");
    // Of one group of threads.
    struct Stack {
        StackSum live;
        StackSum at_peak;               // where peak_number is the last peak's; else live is
        std::uint64_t peak_number = 0;  // of the last peak before it changed
        std::vector<Part> parts;        // by slice
        std::vector<Part> changes;      // by slice
        std::uint32_t next = 0;         // of the same stack, another group's: in more_, counted from 1; 0: none
        std::uint8_t group = kNoGroup;
    };

    [[nodiscard]] const Stack *next(const Stack &one) const { return one.next == 0 ? nullptr : &more_[one.next - 1]; }
    [[nodiscard]] StackSum peak_of(const Stack &one) const {
        return (one.peak_number == peak_number_ ? one.at_peak : one.live).rounded();
    }
    // Of all groups, by slice.
    [[nodiscard]] std::vector<Part> merged(std::size_t stack, std::vector<Part> Stack::*which) const {
        std::vector<Part> all = rounded(stacks_[stack].*which);
        for (const Stack *one = next(stacks_[stack]); one != nullptr; one = next(*one)) {
            std::vector<Part> both;
            const std::vector<Part> more = rounded(one->*which);
            std::ranges::merge(all, more, std::back_inserter(both), {}, &Part::slice, &Part::slice);
            all.clear();
            for (const Part &part : both) {
                if (all.empty() || all.back().slice != part.slice) {
                    all.push_back(part);
                } else {
                    all.back().sum.add(part.sum);
                }
            }
        }
        return all;
    }
    // The first group of a stack has the stack's own place.
    Stack &found(std::uint32_t stack, std::uint8_t group) {
        Stack *one = &stacks_[stack];
        if (one->group == kNoGroup) one->group = group;
        while (one->group != group) {
            if (one->next == 0) {
                one->next = static_cast<std::uint32_t>(more_.size() + 1);
                more_.emplace_back().group = group;
                return more_.back();
            }
            one = &more_[one->next - 1];
        }
        return *one;
    }

    // Whole numbers whose sum is that of all, rounded.
    [[nodiscard]] static std::vector<Part> rounded(std::vector<Part> parts) {
        StackSum until;
        for (Part &part : parts) {
            const StackSum before = until.rounded();
            until.add(part.sum.bytes, part.sum.blocks);
            const StackSum now = until.rounded();
            part.sum = {now.bytes - before.bytes, now.blocks - before.blocks};
        }
        return parts;
    }
    static void add_to(std::vector<Part> *parts, const Step &step, double bytes, double blocks) {
        const std::uint32_t slice = TimeAxis::slice_of(step.point);
        if (parts->empty() || parts->back().slice != slice) parts->push_back({slice, {}});
        parts->back().sum.add(bytes, blocks);
    }
    void add_live(const Step &step, double blocks) {
        Stack &stack = changed(step.block);
        const double bytes = blocks * static_cast<double>(step.block.size);
        stack.live.add(bytes, blocks);
        add_to(&stack.changes, step, bytes, blocks);
    }

    void reach(trace::Time time) {
        peak_ = live_;
        peak_time_ = time;
        ++peak_number_;
    }
    [[nodiscard]] bool counts(const trace::Block &block) const {
        const std::uint32_t number = trace::number_of(block.stack);
        return number < stacks_.size() && (number != 0 || takes_unknown_);
    }
    Stack &changed(const trace::Block &block) {
        Stack &stack = found(trace::number_of(block.stack), scope_.threads.of(block.thread));
        if (stack.peak_number != peak_number_) {
            stack.at_peak = stack.live;
            stack.peak_number = peak_number_;
        }
        return stack;
    }

    const Scope &scope_;
    bool takes_unknown_;
    std::vector<Stack> stacks_;
    std::deque<Stack> more_;  // which stay where they are
    std::uint64_t live_ = 0;
    std::uint64_t peak_ = 0;
    std::uint64_t peak_number_ = 0;
    trace::Time peak_time_;
};

}  // namespace gr::tool

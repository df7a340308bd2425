// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on temporary blocks: those that the next call of the thread that allocated them frees.
// Invariant: a realloc counts as one call; what it moves on at once is told apart from what is freed. By call site, a
//    block counts for as many as it stands for.
// Must not know: where blocks lie.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Temporaries {
  public:
    explicit Temporaries(const Scope &scope)
        : scope_(scope),
          last_birth_(scope.trace.threads().size(), kNone),
          by_stack_(scope.has_stacks() ? scope.trace.stacks().size() : 1),
          by_size_(trace::kSizeBuckets) {}

    void called(const Step &step) {
        std::uint64_t &last = last_birth_[trace::number_of(step.thread)];
        if (step.kind == StepKind::died && step.block.number == last) count(step);
        last = step.kind == StepKind::born ? step.block.number : kNone;
        if (step.kind != StepKind::born) return;
        ++births_;
        if (Stack *const stack = stack_of(step.block)) stack->births += scope_.blocks_stood_for(step.block.size);
    }

    [[nodiscard]] Section section(CallSites &sites) const;

  private:
    static constexpr std::uint64_t kNone = UINT64_MAX;
    struct Stack {
        double births = 0;
        double temporaries = 0;
        double bytes = 0;  // of temporaries
    };

    // None of a block whose stack is not known.
    [[nodiscard]] Stack *stack_of(const trace::Block &block) {
        const std::uint32_t number = trace::number_of(block.stack);
        return number != 0 && number < by_stack_.size() ? &by_stack_[number] : nullptr;
    }
    void count(const Step &step) {
        if (step.op == trace::Op::realloc_free) {
            ++moved_on_;
            return;
        }
        ++temporaries_;
        bytes_ += step.block.size;
        ++by_size_[trace::size_bucket(step.block.size)];
        if (Stack *const stack = stack_of(step.block)) {
            const double blocks = scope_.blocks_stood_for(step.block.size);
            stack->temporaries += blocks;
            stack->bytes += blocks * static_cast<double>(step.block.size);
        }
    }
    [[nodiscard]] BarsChart sizes() const;

    const Scope &scope_;
    std::vector<std::uint64_t> last_birth_;  // by thread: the block that its last call made
    std::vector<Stack> by_stack_;
    std::vector<std::uint64_t> by_size_;
    std::uint64_t births_ = 0;
    std::uint64_t temporaries_ = 0;
    std::uint64_t moved_on_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace gr::tool

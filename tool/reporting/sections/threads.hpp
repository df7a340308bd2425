// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on threads: who allocates, and who frees whose blocks.
// Invariant: a free counts for the thread that called it, and for the one that allocated.
// Must not know: where blocks lie.
#pragma once

#include <cstdint>
#include <vector>

#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class Threads {
  public:
    explicit Threads(const Scope &scope)
        : scope_(scope),
          groups_(scope.threads.count()),
          allocated_(groups_),
          freed_(std::size_t{groups_} * groups_),
          own_(TimeAxis::kPoints),
          remote_(TimeAxis::kPoints) {}

    void born(const Step &step) { allocated_[scope_.threads.of(step.thread)].add(step.block.size); }
    void died(const Step &step) {
        const std::uint32_t by = scope_.threads.of(step.thread);
        const std::uint32_t of = scope_.threads.of(step.block.thread);
        freed_[std::size_t{of} * groups_ + by].add(step.block.size);
        ++(step.thread == step.block.thread ? own_ : remote_)[step.point];
    }

    [[nodiscard]] Section section() const;

  private:
    struct Sum {
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;

        void add(std::uint64_t size) {
            ++blocks;
            bytes += size;
        }
    };

    [[nodiscard]] MatrixChart matrix(std::uint64_t Sum::*number, Unit unit) const;
    [[nodiscard]] SeriesChart over_time() const;
    [[nodiscard]] TableChart table() const;

    const Scope &scope_;
    std::uint32_t groups_;
    std::vector<Sum> allocated_;
    std::vector<Sum> freed_;  // rows: who allocated; columns: who freed
    std::vector<std::uint32_t> own_;
    std::vector<std::uint32_t> remote_;
};

}  // namespace gr::tool

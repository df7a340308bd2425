// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on threads: who allocates, who frees whose blocks, and how much of each was in use at most.
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
          live_(groups_),
          freed_(std::size_t{groups_} * groups_),
          own_(TimeAxis::kPoints),
          remote_(TimeAxis::kPoints) {}

    void born(const Step &step) {
        allocated_[scope_.threads.of(step.thread)].add(step.block.size);
        live_of(step).grow(step.block.size, step.time);
    }
    void died(const Step &step) {
        const std::uint32_t by = scope_.threads.of(step.thread);
        const std::uint32_t of = scope_.threads.of(step.block.thread);
        freed_[std::size_t{of} * groups_ + by].add(step.block.size);
        ++(step.thread == step.block.thread ? own_ : remote_)[step.point];
        live_of(step).bytes -= step.block.size;
    }
    void vanished(const Step &step) { live_of(step).bytes -= step.block.size; }
    void alive(const Step &step) { live_of(step).grow(step.block.size, scope_.time.first()); }

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

    // In use, of what the threads of one group allocated.
    struct Live {
        std::uint64_t bytes = 0;
        std::uint64_t most = 0;
        trace::Time when;

        void grow(std::uint64_t size, trace::Time time) {
            bytes += size;
            if (bytes <= most) return;
            most = bytes;
            when = time;
        }
    };

    [[nodiscard]] Live &live_of(const Step &step) { return live_[scope_.threads.of(step.block.thread)]; }
    [[nodiscard]] MatrixChart matrix(std::uint64_t Sum::*number, Unit unit) const;
    [[nodiscard]] SeriesChart over_time() const;
    [[nodiscard]] TableChart table() const;

    const Scope &scope_;
    std::uint32_t groups_;
    std::vector<Sum> allocated_;
    std::vector<Live> live_;
    std::vector<Sum> freed_;  // rows: who allocated; columns: who freed
    std::vector<std::uint32_t> own_;
    std::vector<std::uint32_t> remote_;
};

}  // namespace gr::tool

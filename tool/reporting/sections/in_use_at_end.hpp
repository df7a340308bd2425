// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on what was still in use at the end: by size, by the time of allocation, by thread and by call
//    site.
// Invariant: every block in use behind the last event counts once.
// Must not know: whether the program could still reach it.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reading/trace/live_set.hpp"
#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/shown_threads.hpp"
#include "reporting/steps/stack_totals.hpp"

namespace gr::tool {

class InUseAtEnd {
  public:
    explicit InUseAtEnd(const Scope &scope)
        : scope_(scope),
          by_size_(trace::kSizeBuckets),
          by_birth_(TimeAxis::kPoints),
          by_thread_(scope.threads.count()) {}

    // Behind the last event.
    void look(const trace::LiveSet &live);
    [[nodiscard]] Section section(const StackTotals &totals, const ShownThreads &threads, CallSites &sites) const;

  private:
    struct Sum {
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;

        void add(std::uint64_t size) {
            ++blocks;
            bytes += size;
        }
    };

    [[nodiscard]] SeriesChart by_birth() const;
    [[nodiscard]] TableChart by_size() const;
    [[nodiscard]] TableChart by_thread() const;

    const Scope &scope_;
    std::vector<Sum> by_size_;
    std::vector<Sum> by_birth_;
    std::vector<Sum> by_thread_;
    Sum all_;
};

}  // namespace gr::tool

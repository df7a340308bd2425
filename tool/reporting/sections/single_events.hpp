// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section that shows the events of a window one by one, where they are few.
// Invariant: all of them, or none: kMost at most.
// Must not know: what they add up to.
#pragma once

#include <cstdint>
#include <vector>

#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class SingleEvents {
  public:
    static constexpr std::size_t kMost = 500;

    explicit SingleEvents(const Scope &scope) : scope_(scope) {}

    void event(const Step &step) {
        ++count_;
        if (count_ <= kMost) steps_.push_back(step);
    }

    [[nodiscard]] Section section(CallSites &sites) const;

  private:
    [[nodiscard]] std::string thread_of(const Step &step) const;

    const Scope &scope_;
    std::uint64_t count_ = 0;
    std::vector<Step> steps_;
};

}  // namespace gr::tool

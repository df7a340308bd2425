// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the number whose marks count now, and the next one.
// Invariant: when the numbers begin anew every mark is cleared, so no mark of an earlier collection counts.
// Must not know: who marks; what a number stands for.
#pragma once

#include "collector/kinds.hpp"

namespace gr {

class MarkNumbers {
  public:
    constexpr explicit MarkNumbers(const Kinds &kinds) : kinds_(kinds) {}
    MarkNumbers(const MarkNumbers &) = delete;
    MarkNumbers &operator=(const MarkNumbers &) = delete;

    std::uint8_t current() const { return current_; }
    std::uint8_t next() {
        if (current_ == UINT8_MAX) {
            kinds_.for_each([](Kind &kind) { kind.marks.clear(); });
            current_ = 0;
        }
        return ++current_;
    }

  private:
    const Kinds &kinds_;
    std::uint8_t current_ = 0;
};

}  // namespace gr

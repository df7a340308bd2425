// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the addresses where blocks ever were, in steps of kStep.
// Invariant: ranges are apart from each other, and by address. There are at most kMostRanges: a block that would need
//    another is left out.
// Must not know: what is looked for there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace gr::tool {

class AddressRanges {
  public:
    static constexpr std::uint64_t kStep = 1 << 21;
    static constexpr std::size_t kMostRanges = std::size_t{1} << 16;

    void add(std::uint64_t begin, std::uint64_t end) {
        if (begin >= last_begin_ && end <= last_end_) return;
        insert(begin / kStep * kStep, (end + kStep - 1) / kStep * kStep);
    }
    // Begin and end.
    [[nodiscard]] const std::map<std::uint64_t, std::uint64_t> &all() const { return ranges_; }

  private:
    void insert(std::uint64_t begin, std::uint64_t end);

    std::map<std::uint64_t, std::uint64_t> ranges_;
    std::uint64_t last_begin_ = 0;
    std::uint64_t last_end_ = 0;
};

}  // namespace gr::tool

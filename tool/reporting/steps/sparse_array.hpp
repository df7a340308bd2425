// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an array over all 64-bit numbers of which only some stretches are used: of pages, of cache lines.
// Invariant: what was never written is zero. A stretch that was written stays. It is short, so that numbers that lie far
//    apart do not take much memory.
// Must not know: what the numbers count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace gr::tool {

template <class Value>
class SparseArray {
  public:
    Value &operator[](std::uint64_t index) {
        const std::uint64_t number = index / kStretch;
        Recent &recent = recent_[number % kRecent];
        if (recent.values == nullptr || recent.number != number) recent = {number, find(number)};
        return recent.values[index % kStretch];
    }

  private:
    static_assert(std::is_trivially_copyable_v<Value>, "values are copied as bytes");
    static constexpr std::size_t kStretch = 256;
    static constexpr std::size_t kRecent = 16384;
    using Stretch = std::array<Value, kStretch>;
    struct Recent {
        std::uint64_t number = 0;
        Value *values = nullptr;
    };

    Value *find(std::uint64_t number) {
        return stretches_[number].data();  // a new one is all zero
    }

    std::unordered_map<std::uint64_t, Stretch> stretches_;  // none moves
    std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
};

}  // namespace gr::tool

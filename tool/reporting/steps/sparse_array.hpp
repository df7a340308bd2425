// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an array over all 64-bit numbers of which only some stretches are used: of pages, of cache lines.
// Invariant: what was never written is zero. A stretch that was written stays; of a stretch only the touched pages take
//    memory, for its zeros are the kernel's.
// Must not know: what the numbers count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
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
    static constexpr std::size_t kStretch = std::size_t{1} << 15;
    static constexpr std::size_t kRecent = 256;
    struct Free {
        void operator()(Value *values) const { std::free(values); }
    };
    struct Recent {
        std::uint64_t number = 0;
        Value *values = nullptr;
    };

    Value *find(std::uint64_t number) {
        std::unique_ptr<Value, Free> &stretch = stretches_[number];
        if (stretch == nullptr) stretch.reset(static_cast<Value *>(std::calloc(kStretch, sizeof(Value))));
        if (stretch == nullptr) throw std::bad_alloc();
        return stretch.get();
    }

    std::unordered_map<std::uint64_t, std::unique_ptr<Value, Free>> stretches_;
    std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
};

}  // namespace gr::tool

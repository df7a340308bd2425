// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an array over all 64-bit numbers of which only some stretches are used: of pages, of cache lines.
// Invariant: what was never written reads as a new value. A stretch that was written stays.
// Must not know: what the numbers count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gr::analysis {

template <class Value, unsigned kLeafBits>
class SparseArray {
  public:
    Value &operator[](std::uint64_t index) {
        const std::uint64_t key = index >> kLeafBits;
        if (last_ == nullptr || key != last_key_) {
            std::unique_ptr<Leaf> &leaf = leaves_[key];
            if (leaf == nullptr) leaf = std::make_unique<Leaf>();
            last_ = leaf.get();
            last_key_ = key;
        }
        return (*last_)[index & (kLeafSize - 1)];
    }
    // Of each stretch, in no order.
    template <class Use>
    void for_each(Use use) const {
        for (const auto &[key, leaf] : leaves_) {
            for (std::size_t i = 0; i < kLeafSize; ++i) use((key << kLeafBits) + i, (*leaf)[i]);
        }
    }

  private:
    static constexpr std::size_t kLeafSize = std::size_t{1} << kLeafBits;
    using Leaf = std::array<Value, kLeafSize>;

    std::unordered_map<std::uint64_t, std::unique_ptr<Leaf>> leaves_;
    Leaf *last_ = nullptr;
    std::uint64_t last_key_ = 0;
};

}  // namespace gr::analysis

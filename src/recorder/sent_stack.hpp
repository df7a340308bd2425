// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the last stack that a thread wrote into its ring, so that the next one leaves out what both have outermost.
// Invariant: between replace() and settle() the thread's ring may not have it yet. If it never gets it, nothing is left out
//    of the next stack.
// Must not know: how stacks are taken or written.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "granary/wire/recording.h"

namespace gr {

class SentStack {
  public:
    constexpr SentStack() = default;

    // It becomes the last one. Returns how many of its outermost words are those of the last one before.
    std::size_t replace(std::span<const std::uintptr_t> words) {
        const std::size_t most = std::min(words.size(), count_);
        std::size_t same = 0;
        while (same < most && words[words.size() - 1 - same] == words_[words_.size() - 1 - same]) ++same;
        count_ = words.size();
        std::ranges::copy(words.first(count_ - same), words_.end() - static_cast<std::ptrdiff_t>(count_));
        return same;
    }
    void settle(bool is_written) {
        if (!is_written) count_ = 0;
    }

  private:
    std::size_t count_ = 0;
    std::array<std::uintptr_t, GR_RECORDING_MOST_CALLS> words_{};  // the outermost at the end
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stacks of calls, each kept once, by number.
// Invariant: a number stays its stack's for ever, and 0 is none. What is there is found without a lock; what is new is
//    added under one. Addresses of code only lie here.
// Must not know: whose the stacks are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "platform/mutex.hpp"
#include "platform/world/range.hpp"

namespace gr {

using StackNumber = std::uint32_t;

class Stacks {
  public:
    static constexpr std::size_t kMostCalls = 16;  // on average, where there are as many stacks as there may be
    static constexpr std::size_t kMostStacks = std::size_t{3} << 19;  // a search ends at an empty slot, so some stay so

    constexpr Stacks() = default;

    // false: no addresses, as of now.
    bool initialise();
    // 0: there is no room for it, or the caller interrupted who adds one.
    StackNumber number_of(std::span<const std::uintptr_t> calls);
    std::span<const std::uintptr_t> calls(StackNumber number) const;
    // From 1 on, as they were added; 0 for none.
    std::uint32_t ordinal(StackNumber number) const {
        return number == 0 ? 0 : static_cast<std::uint32_t>(words_[number] >> kOrdinalShift);
    }
    // For who looks from outside: at a number is its count of calls, in the lower half of the word, and then they are.
    const std::uintptr_t *words() const { return words_; }
    std::array<platform::Growing, 2> memory() const {
        return {{{&slots_, &kSlots, sizeof *slots_}, {&words_, &kWords, sizeof *words_}}};
    }

    // Around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    // A number is the place in words of the ordinal and the count of calls, a half each, which the calls follow.
    static constexpr unsigned kOrdinalShift = 32;
    static constexpr unsigned kSlotBits = 21;
    static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
    static constexpr std::size_t kWords = 1 + kMostStacks * (kMostCalls + 1);
    static constexpr std::size_t kStepWords = std::size_t{1} << 16;  // committed at once
    static_assert(kMostStacks <= kSlots / 4 * 3);
    static constexpr platform::Rank kRank = platform::Rank::stacks;

    static std::uint64_t mix(std::span<const std::uintptr_t> calls);
    bool is(StackNumber number, std::span<const std::uintptr_t> calls) const;
    StackNumber add(std::span<const std::uintptr_t> calls);

    std::atomic<StackNumber> *slots_ = nullptr;  // by hash, open; release, with the acquire of who looks: it is there
    std::uintptr_t *words_ = nullptr;
    std::size_t count_ = 0;
    std::size_t used_words_ = 1;
    std::size_t committed_words_ = 0;
    platform::Mutex mutex_;
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stacks of calls, each kept once and named by a number.
// Invariant: a number names the same stack for ever, and 0 names no stack. A known stack is found without a lock, unless
//    it is retired; a new stack is added under the lock. Only addresses of code are kept here.
// Must not know: what the stacks are taken for.
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
    static constexpr std::size_t kMostCalls = 16;                     // of a stack, on average over kMostStacks stacks
    static constexpr std::size_t kMostStacks = std::size_t{3} << 19;  // some slots stay empty: a search ends there

    constexpr Stacks() = default;

    // false: no address space now; the caller may try again.
    bool initialise();
    // The stack's number; adds the stack if it is new. 0: no calls, no room, or the caller is a handler that
    // interrupted this thread while it was adding a stack.
    StackNumber number_of(std::span<const std::uintptr_t> calls);
    std::span<const std::uintptr_t> calls(StackNumber number) const;
    // Stacks are counted from 1 in the order in which they were added. 0 for no stack.
    std::uint32_t ordinal(StackNumber number) const {
        return number == 0 ? 0 : static_cast<std::uint32_t>((head(number) & ~kRetired) >> kOrdinalShift);
    }
    // Stacks with a call in this code are not found any more: other code may lie there now. Returns the ordinal of the
    // last stack that there is; 0 if none is retired by this call.
    std::uint32_t retire(std::uintptr_t begin, std::uintptr_t end);
    // For a reader outside the process: the lower half of words()[number] is the count of calls, and the calls follow.
    const std::uintptr_t *words() const { return words_; }
    std::array<platform::Growing, 2> memory() const {
        return {{{&slots_, &kSlots, sizeof *slots_}, {&words_, &kWords, sizeof *words_}}};
    }

    // Around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    // A number is an index into words_. The word there, the head, holds the ordinal (upper half) and the count of calls
    // (lower half), and the calls follow. Its highest bit says that the stack is retired.
    static constexpr unsigned kOrdinalShift = 32;
    static constexpr std::uint64_t kRetired = std::uint64_t{1} << 63;
    static constexpr unsigned kSlotBits = 21;
    static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
    static constexpr std::size_t kWords = 1 + kMostStacks * (kMostCalls + 1);
    static constexpr std::size_t kStepWords = std::size_t{1} << 16;  // committed in one step
    static_assert(kMostStacks <= kSlots / 4 * 3, "a quarter of the slots stays free, so that a search ends soon");
    static constexpr platform::Rank kRank = platform::Rank::stacks;

    static std::uint64_t mix(std::span<const std::uintptr_t> calls);
    // Ordered by nothing: a thread that has found the number has seen the stack, and may miss that it is being retired.
    std::uint64_t head(StackNumber number) const {
        return std::atomic_ref(words_[number]).load(std::memory_order_relaxed);
    }
    bool is(StackNumber number, std::span<const std::uintptr_t> calls) const;
    StackNumber add(std::span<const std::uintptr_t> calls);

    // A hash table with open addressing. release: pairs with the acquire in number_of, so that the stack is complete.
    std::atomic<StackNumber> *slots_ = nullptr;
    std::uintptr_t *words_ = nullptr;
    std::size_t count_ = 0;
    std::size_t used_words_ = 1;
    std::size_t committed_words_ = 0;
    platform::Mutex mutex_;
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a block holds, in one word: how far it may hold pointers, where, or who knows. The encoding is the one
//    that programs compiled in from bdwgc's gc_mark.h.
// Invariant: the low two bits say which of the four it is; the rest is its operand.
// Must not know: who scans.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gr {

class Descriptor {
  public:
    enum class Form : std::uint8_t { length, bitmap, procedure, per_object };

    constexpr Descriptor() = default;  // no pointers
    constexpr explicit Descriptor(std::uintptr_t word) : word_(word) {}
    // The first so many bytes, all words of them.
    static constexpr Descriptor of_length(std::size_t bytes) { return Descriptor(bytes & ~kFormMask); }

    constexpr std::uintptr_t word() const { return word_; }
    constexpr bool is_nothing() const { return word_ == 0; }
    constexpr Form form() const { return static_cast<Form>(word_ & kFormMask); }
    constexpr std::size_t length() const { return word_; }
    // A length, and at most so many bytes. Turned round, every other form is larger than any length.
    constexpr bool is_length_up_to(std::size_t bytes) const {
        return std::rotr(word_, kFormBits) <= (bytes >> kFormBits);
    }
    // From the highest bit down, one for each word.
    constexpr std::uintptr_t bitmap() const { return word_ & ~kFormMask; }
    constexpr std::size_t procedure() const { return (word_ >> kFormBits) & (kMostProcedures - 1); }
    constexpr std::uintptr_t environment() const { return word_ >> (kFormBits + kProcedureBits); }
    // Of the block's own descriptor from its beginning; negative: from what its first word points to, downwards.
    constexpr std::intptr_t displacement() const { return static_cast<std::intptr_t>(word_ & ~kFormMask); }
    // In a kind whose descriptors grow with the block.
    constexpr Descriptor plus(std::size_t bytes) const { return Descriptor(word_ + bytes); }

    static constexpr unsigned kProcedureBits = 6;
    static constexpr std::size_t kMostProcedures = std::size_t{1} << kProcedureBits;
    static constexpr std::intptr_t kIndirectBias = 16;

  private:
    static constexpr unsigned kFormBits = 2;
    static constexpr std::uintptr_t kFormMask = (1U << kFormBits) - 1;

    std::uintptr_t word_ = 0;
};

// A piece of memory to be scanned. A program's mark procedures know it as an entry of the mark stack.
struct Task {
    const char *begin;
    Descriptor descriptor;
};
static_assert(sizeof(Task) == 2 * sizeof(void *), "a task is pushed and popped as two words");

using MarkProcedure = Task *(*)(std::uintptr_t *block, Task *top, Task *limit, std::uintptr_t environment);

}  // namespace gr

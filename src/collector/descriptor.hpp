// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: describes in one word which words of a block may be pointers. The encoding is that of bdwgc's gc_mark.h,
//    because programs have compiled it in.
// Invariant: the low two bits are the form; the other bits are the form's operand.
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
    // All words of the first `bytes` bytes.
    static constexpr Descriptor of_length(std::size_t bytes) { return Descriptor(bytes & ~kFormMask); }

    constexpr std::uintptr_t word() const { return word_; }
    constexpr bool is_nothing() const { return word_ == 0; }
    constexpr Form form() const { return static_cast<Form>(word_ & kFormMask); }
    constexpr std::size_t length() const { return word_; }
    // Whether the form is a length of at most `bytes`. Rotated, every other form is larger than any length.
    constexpr bool is_length_up_to(std::size_t bytes) const {
        return std::rotr(word_, kFormBits) <= (bytes >> kFormBits);
    }
    // A bit for each word, from the highest bit down.
    constexpr std::uintptr_t bitmap() const { return word_ & ~kFormMask; }
    constexpr std::size_t procedure() const { return (word_ >> kFormBits) & (kMostProcedures - 1); }
    constexpr std::uintptr_t environment() const { return word_ >> (kFormBits + kProcedureBits); }
    // Where the block's own descriptor lies, counted from the block's beginning; negative: counted downwards from the
    // address in the block's first word.
    constexpr std::intptr_t displacement() const { return static_cast<std::intptr_t>(word_ & ~kFormMask); }
    // The descriptor of a larger block, in a kind whose descriptors grow with the block.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the stack of one call, as the words that its record has: the calls of functions, and in the place of the calls of
//    Python's evaluation the functions of Python that these run.
// Invariant: no more words than the protocol allows. A stack that is too deep keeps its innermost and its outermost
//    calls, and a word between them says how many were left out.
// Must not know: which calls have a stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "granary/wire/recording.h"
#include "platform/unwind/frame.hpp"
#include "recorder/python_frames.hpp"
#include "recorder/python_places.hpp"

namespace gr {

class ThreadStacks;

class TakenStack {
  public:
    // The calls that led to this frame, without those in this library; at most so many.
    TakenStack(const platform::Frame &frame, std::size_t most, const PlaceTeller &teller);

    // What is to be written: the words, without those that the thread's last stack has, and how many these are.
    std::span<const std::uintptr_t> words() const { return {words_.data(), count_}; }
    std::uint64_t further() const { return further_; }

    // What has to be settled when the stack is written or lost; nullptr: the stack is apart.
    ThreadStacks *stacks() const { return stacks_; }

  private:
    void take(const platform::Frame &frame, std::size_t inner, std::size_t outer);
    void take_with_python(const platform::Frame &frame, const PythonFrames &frames, const PlaceTeller &teller);

    ThreadStacks *stacks_ = nullptr;
    std::size_t count_ = 0;
    std::uint64_t further_ = GR_RECORD_STACK_APART;
    std::array<std::uintptr_t, GR_RECORDING_MOST_CALLS> words_;
};

// Called by a thread that takes a ring and is to take stacks. Returns the memory in which it remembers the last one.
std::span<const std::byte> begin_stacks(std::uint32_t ring);

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/taken_stack.hpp"

#include <algorithm>
#include <atomic>

#include "platform/unwind/stack_outline.hpp"
#include "recorder/python_merge.hpp"
#include "recorder/sampling.hpp"

namespace gr {
namespace {

// Of this thread. A signal handler that interrupts a walk takes only the innermost calls.
thread_local constinit platform::StackOutline outline;
thread_local constinit bool is_outline_used = false;

constexpr std::size_t kOuterPart = 4;  // of the calls, that are outermost ones
constexpr std::size_t kNativeCalls = 512;

std::span<const std::uintptr_t> known_outermost(std::size_t most) {
    const std::span<const std::uintptr_t> known = outline.outermost();
    return known.last(std::min(most, known.size()));
}

}  // namespace

TakenStack::TakenStack(std::size_t most, const PlaceTeller &teller) {
    most = std::min(most, words_.size() - 1);
    const std::size_t outer = std::min(most / kOuterPart, platform::StackOutline::kOutermost);
    if (is_outline_used) {
        count_ = stack_walk.take(std::span(words_).first(most - outer));
        return;
    }
    is_outline_used = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    PythonFrames frames;
    if (frames.is_there()) {
        take_with_python(frames, teller);
    } else {
        take(most - outer, outer);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_outline_used = false;
}

void TakenStack::take(std::size_t inner, std::size_t outer) {
    const platform::StackWalk::Ends ends = stack_walk.take_ends(std::span(words_).first(inner), {}, &outline);
    count_ = ends.written;
    if (ends.beyond == 0) return;
    const std::span<const std::uintptr_t> told = known_outermost(outer);
    if (ends.beyond > told.size()) words_[count_++] = GR_RECORDED_CALLS_LEFT_OUT | (ends.beyond - told.size());
    for (const std::uintptr_t code : told) words_[count_++] = code;
}

// Functions of Python are short and many: such a stack has all words that there may be.
[[gnu::noinline]] void TakenStack::take_with_python(const PythonFrames &frames, const PlaceTeller &teller) {
    std::array<std::uintptr_t, kNativeCalls> codes;
    std::array<std::uintptr_t, kNativeCalls> stacks;
    const platform::StackWalk::Ends ends = stack_walk.take_ends(codes, stacks, &outline);
    PythonMerge merge(words_, frames, teller);
    for (std::size_t i = 0; i < ends.written; ++i)
        merge.add({codes[i], stacks[i], i + 1 < ends.written ? stacks[i + 1] : UINTPTR_MAX});
    count_ = ends.beyond == 0 ? merge.end() : merge.end(known_outermost(platform::StackOutline::kOutermost));
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/taken_stack.hpp"

#include <algorithm>

#include "recorder/python_merge.hpp"
#include "recorder/sampling.hpp"
#include "recorder/thread_stacks.hpp"

namespace gr {
namespace {

constexpr std::size_t kOuterPart = 4;  // of the calls, that are outermost ones
constexpr std::size_t kNativeCalls = 512;

// Of this thread; nullptr: there is none.
thread_local constinit ThreadStacks *own_stacks = nullptr;

std::span<const std::uintptr_t> outermost_of(const ThreadStacks &stacks, std::size_t most) {
    const std::span<const std::uintptr_t> known = stacks.walk.outline.outermost();
    return known.last(std::min(most, known.size()));
}

}  // namespace

std::span<const std::byte> begin_stacks(std::uint32_t ring) {
    own_stacks = ThreadStacks::begin(ring);
    if (own_stacks == nullptr) return {};
    return std::as_bytes(std::span(own_stacks, 1));
}

// Without the help of what the thread remembers, a stack has only its innermost calls.
TakenStack::TakenStack(const platform::Frame &frame, std::size_t most, const PlaceTeller &teller) {
    most = std::min(most, words_.size() - 1);
    if (most == 0) return;
    const std::size_t outer = std::min(most / kOuterPart, platform::StackOutline::kOutermost);
    if (own_stacks == nullptr || !own_stacks->acquire()) {
        count_ = stack_walk.take(std::span(words_).first(most - outer), frame);
        return;
    }
    stacks_ = own_stacks;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    PythonFrames frames;
    if (frames.is_there()) {
        take_with_python(frame, frames, teller);
    } else {
        take(frame, most - outer, outer);
    }
    further_ = stacks_->sent.replace({words_.data(), count_});
    count_ -= further_;
}

void TakenStack::take(const platform::Frame &frame, std::size_t inner, std::size_t outer) {
    const platform::StackWalk::Ends ends =
        stack_walk.take_ends({std::span(words_).first(inner), {}}, &stacks_->walk, frame);
    count_ = ends.written;
    if (ends.beyond == 0) return;
    const std::span<const std::uintptr_t> outermost = outermost_of(*stacks_, outer);
    if (ends.beyond > outermost.size())
        words_[count_++] = GR_RECORDED_CALLS_LEFT_OUT | (ends.beyond - outermost.size());
    for (const std::uintptr_t code : outermost) words_[count_++] = code;
}

// Functions of Python are short and many: such a stack has all words that there may be.
[[gnu::noinline]] void TakenStack::take_with_python(const platform::Frame &frame, const PythonFrames &frames,
                                                    const PlaceTeller &teller) {
    std::array<std::uintptr_t, kNativeCalls> codes;
    std::array<std::uintptr_t, kNativeCalls> stacks;
    const platform::StackWalk::Ends ends = stack_walk.take_ends({codes, stacks}, &stacks_->walk, frame);
    PythonMerge merge(words_, frames, &stacks_->places, teller);
    for (std::size_t i = 0; i < ends.written; ++i)
        merge.add({codes[i], stacks[i], i + 1 < ends.written ? stacks[i + 1] : UINTPTR_MAX});
    count_ = ends.beyond == 0 ? merge.end() : merge.end(outermost_of(*stacks_, platform::StackOutline::kOutermost));
}

}  // namespace gr

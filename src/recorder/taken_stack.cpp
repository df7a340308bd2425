// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/taken_stack.hpp"

#include <algorithm>
#include <atomic>

#include "platform/memory.hpp"
#include "platform/unwind/stack_outline.hpp"
#include "recorder/python_merge.hpp"
#include "recorder/sampling.hpp"

namespace gr {
namespace {

// Of this thread; nullptr: there is no memory for it. A signal handler that interrupts a walk takes only the innermost calls.
thread_local constinit platform::StackOutline *outline = nullptr;
thread_local constinit bool is_outline_used = false;

// One for each ring of the first recording. Pages that no deep stack needs are never touched.
struct Table {
    std::uint64_t count;

    platform::StackOutline &at(std::uint32_t ring) {
        return reinterpret_cast<platform::StackOutline *>(this + 1)[ring];
    }
};
static_assert(sizeof(Table) % alignof(platform::StackOutline) == 0, "the outlines follow the count");
constinit std::atomic<Table *> table{nullptr};

Table *find_table(std::uint32_t rings) {
    Table *known = table.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    const std::size_t bytes = sizeof(Table) + rings * sizeof(platform::StackOutline);
    auto *const made = static_cast<Table *>(platform::map(bytes, 1));
    if (made == nullptr) return nullptr;
    made->count = rings;
    // Release: pairs with the acquire of the threads that find it.
    if (table.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made;
    platform::unmap(made, bytes);
    return known;
}

constexpr std::size_t kOuterPart = 4;  // of the calls, that are outermost ones
constexpr std::size_t kNativeCalls = 512;

std::span<const std::uintptr_t> known_outermost(std::size_t most) {
    const std::span<const std::uintptr_t> known = outline->outermost();
    return known.last(std::min(most, known.size()));
}

}  // namespace

void begin_outline(std::uint32_t ring, std::uint32_t rings) {
    Table *const found = find_table(rings);
    outline = found != nullptr && ring < found->count ? &found->at(ring) : nullptr;
    if (outline != nullptr) outline->forget();
}

TakenStack::TakenStack(std::size_t most, const PlaceTeller &teller) {
    most = std::min(most, words_.size() - 1);
    const std::size_t outer = std::min(most / kOuterPart, platform::StackOutline::kOutermost);
    if (is_outline_used || outline == nullptr) {
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
    const platform::StackWalk::Ends ends = stack_walk.take_ends(std::span(words_).first(inner), {}, outline);
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
    const platform::StackWalk::Ends ends = stack_walk.take_ends(codes, stacks, outline);
    PythonMerge merge(words_, frames, teller);
    for (std::size_t i = 0; i < ends.written; ++i)
        merge.add({codes[i], stacks[i], i + 1 < ends.written ? stacks[i + 1] : UINTPTR_MAX});
    count_ = ends.beyond == 0 ? merge.end() : merge.end(known_outermost(platform::StackOutline::kOutermost));
}

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/taken_stack.hpp"

#include <algorithm>
#include <atomic>

#include "platform/memory.hpp"
#include "recorder/python_merge.hpp"
#include "recorder/sampling.hpp"
#include "recorder/sent_stack.hpp"

namespace gr {
namespace {

// What a thread remembers from one stack to the next.
struct Memory {
    platform::StackMemory stacks;
    PythonPlaces places;
    SentStack sent;

    void forget() {
        stacks.forget();
        sent.settle(false);
    }
};

// Of this thread; nullptr: there is no memory for it. A signal handler that comes between a walk and the record of its stack
// takes only the innermost calls.
thread_local constinit Memory *memory = nullptr;
thread_local constinit bool is_memory_used = false;

// One for each ring of the first recording. Pages that no stack needs are never touched.
struct Table {
    std::uint64_t count;

    Memory &at(std::uint32_t ring) { return reinterpret_cast<Memory *>(this + 1)[ring]; }
};
static_assert(sizeof(Table) % alignof(Memory) == 0, "what threads remember follows the count");
constinit std::atomic<Table *> table{nullptr};

Table *find_table(std::uint32_t rings) {
    Table *known = table.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    const std::size_t bytes = sizeof(Table) + rings * sizeof(Memory);
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
    const std::span<const std::uintptr_t> known = memory->stacks.outline.outermost();
    return known.last(std::min(most, known.size()));
}

}  // namespace

void begin_stacks(std::uint32_t ring, std::uint32_t rings) {
    Table *const found = find_table(rings);
    memory = found != nullptr && ring < found->count ? &found->at(ring) : nullptr;
    if (memory != nullptr) memory->forget();
}

TakenStack::TakenStack(const platform::Frame &frame, std::size_t most, const PlaceTeller &teller) {
    most = std::min(most, words_.size() - 1);
    if (most == 0) return;
    const std::size_t outer = std::min(most / kOuterPart, platform::StackOutline::kOutermost);
    if (is_memory_used || memory == nullptr) {
        count_ = stack_walk.take(std::span(words_).first(most - outer), frame);
        return;
    }
    is_memory_used = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    PythonFrames frames;
    if (frames.is_there()) {
        take_with_python(frame, frames, teller);
    } else {
        take(frame, most - outer, outer);
    }
    further_ = memory->sent.replace({words_.data(), count_});
    count_ -= further_;
}

void TakenStack::settle(bool is_written) {
    memory->sent.settle(is_written);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_memory_used = false;
}

void TakenStack::abandon() {
    if (!is_memory_used) [[likely]]
        return;
    memory->forget();
    memory->places.forget();
    is_memory_used = false;
}

void TakenStack::take(const platform::Frame &frame, std::size_t inner, std::size_t outer) {
    const platform::StackWalk::Ends ends =
        stack_walk.take_ends({std::span(words_).first(inner), {}}, &memory->stacks, frame);
    count_ = ends.written;
    if (ends.beyond == 0) return;
    const std::span<const std::uintptr_t> told = known_outermost(outer);
    if (ends.beyond > told.size()) words_[count_++] = GR_RECORDED_CALLS_LEFT_OUT | (ends.beyond - told.size());
    for (const std::uintptr_t code : told) words_[count_++] = code;
}

// Functions of Python are short and many: such a stack has all words that there may be.
[[gnu::noinline]] void TakenStack::take_with_python(const platform::Frame &frame, const PythonFrames &frames,
                                                    const PlaceTeller &teller) {
    std::array<std::uintptr_t, kNativeCalls> codes;
    std::array<std::uintptr_t, kNativeCalls> stacks;
    const platform::StackWalk::Ends ends = stack_walk.take_ends({codes, stacks}, &memory->stacks, frame);
    PythonMerge merge(words_, frames, &memory->places, teller);
    for (std::size_t i = 0; i < ends.written; ++i)
        merge.add({codes[i], stacks[i], i + 1 < ends.written ? stacks[i + 1] : UINTPTR_MAX});
    count_ = ends.beyond == 0 ? merge.end() : merge.end(known_outermost(platform::StackOutline::kOutermost));
}

}  // namespace gr

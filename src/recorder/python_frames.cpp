// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python_frames.hpp"

#include <algorithm>
#include <atomic>

#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;
constexpr std::size_t kWord = sizeof(void *);
constexpr std::size_t kMarkBytes = 3 * kWord;
constexpr std::uint8_t kOnTheStack = 3;  // the owner of a frame on the C stack

constexpr unsigned kProofs = 64;

// How many pointers to code led to code. After kProofs of them, the layout is believed.
constinit std::atomic<unsigned> proofs{0};

std::uintptr_t address_of(const void *object) { return reinterpret_cast<std::uintptr_t>(object); }

}  // namespace

[[gnu::always_inline]] inline bool PythonFrames::is_safe(const void *object, std::size_t bytes) {
    const std::uintptr_t at = address_of(object);
    if (at < kPageBytes || at % kWord != 0) return false;
    return !is_careful_ || is_readable(at, bytes);
}

// Frames lie close together, so that the kernel is asked for a few pages only.
bool PythonFrames::is_readable(std::uintptr_t at, std::size_t bytes) {
    for (const std::uintptr_t page : {at / kPageBytes, (at + bytes - 1) / kPageBytes}) {
        if (std::ranges::find(safe_pages_, page) != safe_pages_.end()) continue;
        if (!platform::is_readable(page * kPageBytes)) return false;
        safe_pages_[next_page_++ % safe_pages_.size()] = page;
    }
    return true;
}

PythonFrames::PythonFrames() {
    if (!python.is_found()) return;
    const PythonLayout &layout = python.layout();
    is_careful_ = proofs.load(std::memory_order_relaxed) < kProofs || python.is_ending();
    const void *const thread = python.thread();
    if (thread == nullptr || !is_safe(thread, layout.thread_frames + kWord)) return;
    const auto *const first = field<const void *>(thread, layout.thread_frames);
    switch (layout.chain) {
        case PythonChain::one_by_one:
            frames_ = first;
            break;
        case PythonChain::marked:
            frames_ = first;
            marks_ = field<const void *>(thread, layout.thread_marks);
            break;
        case PythonChain::entered:
            marks_ = first;
            if (is_safe(marks_, kMarkBytes)) frames_ = field<const void *>(marks_, layout.mark_frame);
            break;
        case PythonChain::on_the_stack:
            frames_ = first;
            if (layout.mark_previous != 0)
                frames_ = is_safe(first, kMarkBytes) ? field<const void *>(first, layout.mark_frame) : nullptr;
            break;
    }
}

// The frame may be the last one in its memory.
[[gnu::always_inline]] inline bool PythonFrames::is_safe_frame(const void *frame) {
    const PythonLayout &layout = python.layout();
    return is_safe(frame, std::max(layout.frame_instruction + kWord, layout.frame_kind + std::size_t{1}));
}

[[gnu::always_inline]] inline bool PythonFrames::take(const void *frame) {
    const PythonLayout &layout = python.layout();
    frame_.code = field<const void *>(frame, layout.frame_code);
    if (!is_safe(frame_.code, layout.code_lines + kWord) || !python.is_code(frame_.code)) return false;
    if (is_careful_) proofs.store(proofs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (layout.code_instructions == 0) {
        frame_.instruction = field<std::int32_t>(frame, layout.frame_instruction);
        return true;
    }
    const std::uintptr_t begin = address_of(frame_.code) + layout.code_instructions;
    frame_.instruction = static_cast<std::int32_t>(field<std::uintptr_t>(frame, layout.frame_instruction) - begin);
    return true;
}

[[gnu::always_inline]] inline PythonFrames::Next PythonFrames::next_one_by_one() {
    const PythonLayout &layout = python.layout();
    if (ends_call_) {
        ends_call_ = false;
        mark_ = 0;
        if (layout.chain == PythonChain::one_by_one) return Next::call;
        mark_ = address_of(marks_);
        marks_ = is_safe(marks_, kMarkBytes) ? field<const void *>(marks_, layout.mark_previous) : nullptr;
        return Next::call;
    }
    if (frames_ == nullptr || !is_safe_frame(frames_) || !take(frames_)) return Next::end;
    frames_ = field<const void *>(frames_, layout.frame_previous);
    ends_call_ = true;
    return Next::frame;
}

[[gnu::always_inline]] inline PythonFrames::Next PythonFrames::next_with_entries() {
    const PythonLayout &layout = python.layout();
    if (ends_call_) {
        ends_call_ = false;
        mark_ = address_of(marks_);
        marks_ = is_safe(marks_, kMarkBytes) ? field<const void *>(marks_, layout.mark_previous) : nullptr;
        return Next::call;
    }
    if (frames_ == nullptr || !is_safe_frame(frames_) || !take(frames_)) return Next::end;
    ends_call_ = field<std::uint8_t>(frames_, layout.frame_kind) != 0;
    frames_ = field<const void *>(frames_, layout.frame_previous);
    return Next::frame;
}

[[gnu::always_inline]] inline PythonFrames::Next PythonFrames::next_on_the_stack() {
    const PythonLayout &layout = python.layout();
    if (frames_ == nullptr || !is_safe_frame(frames_)) return Next::end;
    const void *const frame = frames_;
    frames_ = field<const void *>(frame, layout.frame_previous);
    if (field<std::uint8_t>(frame, layout.frame_kind) == kOnTheStack) {
        mark_ = address_of(frame);
        return Next::call;
    }
    return take(frame) ? Next::frame : Next::end;
}

PythonFrames::Next PythonFrames::next() {
    Next result = Next::end;
    switch (python.layout().chain) {
        case PythonChain::one_by_one:
        case PythonChain::marked:
            result = next_one_by_one();
            break;
        case PythonChain::entered:
            result = next_with_entries();
            break;
        case PythonChain::on_the_stack:
            result = next_on_the_stack();
            break;
    }
    if (result != Next::end && --left_ != 0) return result;
    frames_ = nullptr;
    return Next::end;
}

}  // namespace gr

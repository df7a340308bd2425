// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the frames of Python in which the calling thread is, from the innermost outward, and to which call of the
//    interpreter's evaluation each belongs.
// Invariant: takes no lock and calls nothing of the interpreter except for what tells the thread's state and its own. What
//    is taken for code is code: otherwise the frames end. As long as the layout is not proven, and while the interpreter
//    ends, nothing is read that the kernel does not call readable.
// Must not know: the names of functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "recorder/python.hpp"

namespace gr {

class PythonFrames {
  public:
    // Of a function that runs: its code object, and the place in its instructions, in bytes.
    struct Frame {
        const void *code = nullptr;
        std::int32_t instruction = 0;
    };
    PythonFrames();

    bool is_there() const { return frames_ != nullptr; }
    // Tells each frame of the next call of the evaluation. false: there is no such call, only the frames that were told.
    template <class Tell>
    [[gnu::always_inline]] bool next_call(Tell tell);
    // Of that call: an address in its frame on the C stack; 0: not known.
    std::uintptr_t mark() const { return mark_; }

  private:
    static constexpr std::uintptr_t kPageBytes = 4096;
    static constexpr std::size_t kWord = sizeof(void *);
    static constexpr std::size_t kMarkBytes = 3 * kWord;

    bool is_readable(std::uintptr_t at, std::size_t bytes);
    bool take_mark();
    static void prove();

    [[gnu::always_inline]] bool is_safe(const void *object, std::size_t bytes) {
        const auto at = reinterpret_cast<std::uintptr_t>(object);
        if (at < kPageBytes || at % kWord != 0) return false;
        return !is_careful_ || is_readable(at, bytes);
    }
    // The frame may be the last one in its memory.
    [[gnu::always_inline]] bool is_safe_frame() {
        const PythonLayout &layout = python.layout();
        return is_safe(frames_, std::max(layout.frame_instruction + kWord, layout.frame_kind + std::size_t{1}));
    }
    // false: it is none. Otherwise the caller's frame is the next one.
    [[gnu::always_inline]] bool take(Frame *frame) {
        const PythonLayout &layout = python.layout();
        frame->code = field<const void *>(frames_, layout.frame_code);
        if (!is_safe(frame->code, layout.code_lines + kWord) || !python.is_code(frame->code)) return false;
        if (is_careful_) prove();
        if (layout.code_instructions == 0) {
            frame->instruction = field<std::int32_t>(frames_, layout.frame_instruction);
        } else {
            const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(frame->code) + layout.code_instructions;
            const std::uintptr_t at = field<std::uintptr_t>(frames_, layout.frame_instruction);
            frame->instruction = static_cast<std::int32_t>(at - begin);
        }
        frames_ = field<const void *>(frames_, layout.frame_previous);
        return true;
    }
    template <class Tell>
    [[gnu::always_inline]] bool next_of_one_frame(Tell tell);
    template <class Tell>
    [[gnu::always_inline]] bool next_entered(Tell tell);
    template <class Tell>
    [[gnu::always_inline]] bool next_on_the_stack(Tell tell);

    static constexpr std::uint32_t kMostFrames = 1U << 20;

    const void *frames_ = nullptr;      // the next frame
    const void *marks_ = nullptr;       // the next mark
    std::uint32_t left_ = kMostFrames;  // what is no chain of frames may have no end
    bool is_careful_ = true;
    std::uintptr_t mark_ = 0;
    std::array<std::uintptr_t, 4> safe_pages_{};
    std::size_t next_page_ = 0;
};

template <class Tell>
inline bool PythonFrames::next_of_one_frame(Tell tell) {
    Frame frame;
    if (left_ == 0 || !is_safe_frame() || !take(&frame)) return false;
    --left_;
    tell(frame);
    mark_ = 0;
    return python.layout().chain == PythonChain::one_by_one || take_mark();
}

template <class Tell>
inline bool PythonFrames::next_entered(Tell tell) {
    while (left_ != 0) {
        --left_;
        Frame frame;
        const void *const at = frames_;
        if (!is_safe_frame() || !take(&frame)) return false;
        tell(frame);
        if (field<std::uint8_t>(at, python.layout().frame_kind) != 0) return take_mark();
    }
    return false;
}

template <class Tell>
inline bool PythonFrames::next_on_the_stack(Tell tell) {
    constexpr std::uint8_t kOnTheStack = 3;  // the owner of such a frame
    while (left_ != 0) {
        --left_;
        Frame frame;
        if (!is_safe_frame()) return false;
        if (field<std::uint8_t>(frames_, python.layout().frame_kind) == kOnTheStack) {
            mark_ = reinterpret_cast<std::uintptr_t>(frames_);
            frames_ = field<const void *>(frames_, python.layout().frame_previous);
            return true;
        }
        if (!take(&frame)) return false;
        tell(frame);
    }
    return false;
}

template <class Tell>
inline bool PythonFrames::next_call(Tell tell) {
    switch (python.layout().chain) {
        case PythonChain::one_by_one:
        case PythonChain::marked:
            return next_of_one_frame(tell);
        case PythonChain::entered:
            return next_entered(tell);
        case PythonChain::on_the_stack:
            return next_on_the_stack(tell);
    }
    return false;
}

}  // namespace gr

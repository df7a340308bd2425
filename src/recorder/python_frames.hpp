// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the frames of Python in which the calling thread is, from the innermost outward, and to which call of the
//    interpreter's evaluation each belongs.
// Invariant: takes no lock and calls nothing of the interpreter except for what tells the thread's state and its own. What
//    is taken for code is code: otherwise the frames end. As long as the layout is not proven, and while the interpreter
//    ends, nothing is read that the kernel does not call readable.
// Must not know: the names of functions.
#pragma once

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
    enum class Next : std::uint8_t {
        frame,
        call,  // of the evaluation: the frames before are those of this call
        end,
    };

    PythonFrames();

    bool is_there() const { return frames_ != nullptr; }
    Next next();
    const Frame &frame() const { return frame_; }
    // Of a call: an address in its frame on the C stack; 0: not known.
    std::uintptr_t mark() const { return mark_; }

  private:
    bool is_safe(const void *object, std::size_t bytes);
    bool is_readable(std::uintptr_t at, std::size_t bytes);
    bool is_safe_frame(const void *frame);
    bool take(const void *frame);
    Next next_with_entries();
    Next next_on_the_stack();
    Next next_one_by_one();

    static constexpr std::uint32_t kMostFrames = 1U << 20;

    const void *frames_ = nullptr;      // the next frame
    const void *marks_ = nullptr;       // the next mark
    std::uint32_t left_ = kMostFrames;  // what is no chain of frames may have no end
    bool is_careful_ = true;
    bool ends_call_ = false;
    Frame frame_;
    std::uintptr_t mark_ = 0;
    std::array<std::uintptr_t, 4> safe_pages_{};
    std::size_t next_page_ = 0;
};

}  // namespace gr

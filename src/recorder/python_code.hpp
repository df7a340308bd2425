// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a code object of Python says of a place in it: the function, its file, and the line.
// Invariant: takes no memory and no lock. Names that are too long lose their end, paths their begin.
// Must not know: where the code object was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "granary/wire/recording.h"
#include "recorder/python_frames.hpp"

namespace gr {

// What tells a code object from another that takes its address when it goes away: that one has other strings, or its table
// lies elsewhere.
struct PythonCodeMarks {
    const void *file = nullptr;
    const void *name = nullptr;
    const void *lines = nullptr;
    std::int32_t first_line = 0;

    constexpr PythonCodeMarks() = default;
    explicit PythonCodeMarks(const void *code) {
        const PythonLayout &layout = python.layout();
        file = field<const void *>(code, layout.code_file);
        name = field<const void *>(code, layout.code_name);
        lines = field<const void *>(code, layout.code_lines);
        first_line = field<std::int32_t>(code, layout.code_first_line);
    }

    bool operator==(const PythonCodeMarks &) const = default;
};

// A number for the place. Two places have the same number only by an accident that is not to be expected.
std::uint64_t python_place(const PythonFrames::Frame &frame);

class PythonPlaceText {
  public:
    explicit PythonPlaceText(const PythonFrames::Frame &frame);

    // The function's name, a zero, and its file, in UTF-8.
    std::string_view text() const { return {&text_[0], size_}; }
    std::uint32_t line() const { return line_; }

  private:
    static constexpr std::size_t kMostName = 300;

    std::size_t size_ = 0;
    std::uint32_t line_ = 0;
    char text_[GR_RECORDING_MOST_TEXT];
};

}  // namespace gr

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

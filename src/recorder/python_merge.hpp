// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: joins the calls on the C stack and the functions of Python to one stack.
// Invariant: a call of Python's evaluation gives way to the functions that it runs. The interpreter's own calls between
//    two functions of Python are dropped; those outside of all and those inside of all stay. What does not fit between
//    the innermost and the outermost words is counted.
// Must not know: how either of the two is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "granary/wire/recording.h"
#include "recorder/python_frames.hpp"
#include "recorder/python_places.hpp"

namespace gr {

class PythonMerge {
  public:
    // A call on the C stack: where it goes on, and its frame.
    struct Native {
        std::uintptr_t code = 0;
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
    };

    PythonMerge(std::span<std::uintptr_t> words, const PythonFrames &frames, PythonPlaces *places,
                const PlaceTeller &teller);

    // From the innermost outward.
    void add(const Native &native);
    // Returns how many words there are. There are further calls on the C stack, of which `outermost` are the last ones, if
    // that is not empty. Of them only those outside of the interpreter are in the stack.
    std::size_t end(std::span<const std::uintptr_t> outermost = {});

  private:
    static constexpr std::size_t kOutermost = 16;

    // The functions of one call of the evaluation: the words of the innermost, and the outermost of the others.
    struct Run {
        std::uintptr_t mark = 0;
        std::size_t count = 0;
        bool is_there = false;
        std::array<std::uintptr_t, GR_RECORDING_MOST_CALLS> words;
        std::array<PythonFrames::Frame, kOutermost> last;  // a ring
    };

    void find_run();
    void add_run();
    void add_word(std::uintptr_t word);
    bool is_of_run(const Native &native) const;

    std::span<std::uintptr_t> words_;
    PythonPlaces &places_;
    const PlaceTeller &teller_;
    PythonFrames rest_;
    Run run_;
    bool is_within_python_ = false;
    std::size_t count_ = 0;
    std::size_t last_count_ = 0;
    std::array<std::uintptr_t, kOutermost> last_;  // a ring of those that did not fit
};

}  // namespace gr

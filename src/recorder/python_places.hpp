// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the places in functions of Python at which a thread's last stacks were, and the word that stands for each.
// Invariant: the place of a word that is known was told to the recorder before. A word is found again only for a code object at the same
//    address that still has the same name, file and lines.
// Must not know: how frames are found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "recorder/python_code.hpp"
#include "recorder/python_frames.hpp"

namespace gr {

// The function that is called for each place before a stack contains it. A place may be told more than once. false: the
// recorder does not get to know it.
struct PlaceTeller {
    void *of;
    bool (*tell)(void *of, std::uint64_t place, const PythonFrames::Frame &frame);
    std::uint32_t number;  // of the arrival: another recorder is told anew
};

class PythonPlaces {
  public:
    constexpr PythonPlaces() = default;

    [[gnu::always_inline]] std::uintptr_t word_of(const PythonFrames::Frame &frame, const PlaceTeller &teller) {
        constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
        const std::uint64_t mixed =
            (reinterpret_cast<std::uintptr_t>(frame.code) + static_cast<std::uint32_t>(frame.instruction)) *
            kGoldenRatio;
        Known &known = known_[mixed >> (64 - kBits)];
        if (known.is_of(frame, teller)) return known.word;
        return find(frame, teller, &known);
    }

  private:
    static constexpr unsigned kBits = 8;

    struct Known {
        const void *code = nullptr;
        std::int32_t instruction = 0;
        std::uint32_t number = 0;  // of the arrival
        PythonCodeMarks marks;
        std::uintptr_t word = 0;

        [[gnu::always_inline]] bool is_of(const PythonFrames::Frame &frame, const PlaceTeller &teller) const {
            return code == frame.code && instruction == frame.instruction && number == teller.number &&
                   marks == PythonCodeMarks(frame.code);
        }
    };

    std::uintptr_t find(const PythonFrames::Frame &frame, const PlaceTeller &teller, Known *known);

    std::array<Known, std::size_t{1} << kBits> known_{};
};

}  // namespace gr

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when a thread takes a stack, and when it times a call.
// Invariant: neither follows the program's own rhythm: the gaps are drawn. Between stacks they are exponential, so that
//    a block of s bytes has one with the chance 1 - exp(-s / mean), whatever came before it.
// Must not know: who draws.
#pragma once

#include <bit>
#include <cstdint>

#include "platform/unwind/stack_walk.hpp"

namespace gr {

inline constinit platform::StackWalk stack_walk;

class Dice {
  public:
    constexpr Dice() = default;

    void seed(std::uint64_t value) { state_ = value * 2 + 1; }

    std::uint64_t exponential(std::uint64_t mean) {
        constexpr std::uint64_t kMostMean = std::uint64_t{1} << 40;
        constexpr std::uint64_t kNaturalLogarithmOf2 = 45426;  // in 65536ths
        const std::uint64_t drawn = minus_logarithm_of_2(roll()) * kNaturalLogarithmOf2 >> 16;
        return (mean < kMostMean ? mean : kMostMean) * drawn >> 16;
    }
    // With this mean, too; at least 1.
    std::uint64_t even(std::uint64_t mean) { return 1 + roll() % (2 * mean - 1); }

    // Of a number as a part of 2^64, in 65536ths; to 6 thousandths.
    static constexpr std::uint64_t minus_logarithm_of_2(std::uint64_t number) {
        constexpr std::uint64_t kOne = 65536;
        constexpr std::uint64_t kBend = 22530;  // what a parabola adds to the line between two powers
        const auto zeroes = static_cast<unsigned>(std::countl_zero(number | 1));
        const std::uint64_t part = (number | 1) << zeroes << 1 >> 48;
        const std::uint64_t logarithm = part + (part * (kOne - part) >> 16) * kBend / kOne;
        return (zeroes + 1) * kOne - logarithm;
    }

  private:
    std::uint64_t roll() {  // xorshift64*
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1d;
    }

    std::uint64_t state_ = 1;
};

}  // namespace gr
